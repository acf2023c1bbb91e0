/**
 * Whether conditions on other controls hold, in the grammar of app.controls: `load=open|burst&block_size<turns`.
 *
 * @param {string} conditions
 * @param {(name: string) => string} settingOf
 */
export const holds = (conditions, settingOf) =>
  conditions.split("&").every((condition) => !condition || isTrue(condition, settingOf));

/**
 * Names of the controls that conditions look at.
 * @param {string} conditions
 */
export const namesIn = (conditions) =>
  conditions.split("&").flatMap((condition) => CONDITION.exec(condition)?.[1] ?? []);

const CONDITION = /^(\w+)(!=|=|<)(.*)$/;

/**
 * @param {string} condition
 * @param {(name: string) => string} settingOf
 */
function isTrue(condition, settingOf) {
  const [, name, sign, other] = CONDITION.exec(condition) ?? ["", "", "", ""];
  if (sign === "<") return Number(settingOf(name)) < Number(settingOf(other));
  return other.split("|").includes(settingOf(name)) === (sign === "=");
}
