/**
 * What follows from a formula for each scenario of the page: asked for as soon as a control moves, without waiting for a
 * run, and also where no run can be, because the model does not fit.
 *
 * @typedef {object} Costs as /api/v1/costs answers
 * @property {string} kind
 * @property {import("./cost.js").Coefficients} coefficients
 * @property {boolean} calibrated
 * @property {Record<string, number>} work
 * @property {Record<string, number>} rates
 * @property {Record<string, number>} memory
 * @property {Record<string, string>} names
 * @property {Record<string, any>} scenario every parameter
 * @property {Record<string, any>} defaults of the parameters that say what is asked of the server
 */
import { problemOf } from "./lines.js";
import { Loader } from "./loader.js";

export class CostBook {
  /**
   * @param {import("./state.js").State} state
   * @param {string} stepsUrl the API's routes lie side by side
   * @param {() => void} onChange
   */
  constructor(state, stepsUrl, onChange) {
    this.state = state;
    this.url = stepsUrl.replace(/steps$/, "costs");
    /** @type {Record<string, Costs>} by run */
    this.runs = {};
    this.loader = new Loader(
      (signal) => this.fetch(signal),
      (runs) => {
        this.runs = runs;
        onChange();
      },
      // Whatever is wrong with the scenario or the server is told by the run that is asked for at the same time.
      () => undefined,
    );
  }

  /** Ask for what the state now says. */
  want() {
    this.loader.want();
  }

  /**
   * @param {AbortSignal} signal
   * @returns {Promise<Record<string, Costs>>}
   */
  async fetch(signal) {
    const answers = this.state.runs.map(async (name) => {
      const response = await fetch(`${this.url}?${this.state.scenarioQuery(name)}`, { signal });
      if (!response.ok) throw await problemOf(response);
      return /** @type {[string, Costs]} */ ([name, await response.json()]);
    });
    return Object.fromEntries(await Promise.all(answers));
  }
}
