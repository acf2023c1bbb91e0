"""The paste box in the lab: what was read appears in the page, and the scenario stays until its link is opened."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.helpers import query, step, wait_for_picture

pytestmark = pytest.mark.browser

COMMAND = "vllm serve Qwen/Qwen3-8B --max_num_seqs 8 --frobnicate"
RESULT = "Successful requests:  20\nRequest throughput (req/s):  2.00\nMean TTFT (ms):  50.00\n"


def paste(lab: Page, text: str) -> None:
    lab.locator("#paste > summary").click()
    lab.get_by_label("vllm serve").fill(text)
    lab.get_by_role("button", name="Read it").click()


def test_pasted_command_is_explained_and_opened_by_its_link(lab: Page):
    before = query(lab)
    paste(lab, COMMAND)
    expect(lab.locator("#pasted h3")).to_be_focused()
    expect(lab.locator("#pasted")).to_contain_text("--frobnicate")
    expect(lab.locator("#pasted")).to_contain_text("--max_num_seqs read as --max-num-seqs")
    assert query(lab)["max_num_seqs"] == before["max_num_seqs"]
    lab.get_by_role("link", name="Open this scenario").click()
    wait_for_picture(lab)
    assert query(lab)["model"] == "qwen3-8b"


def test_pasted_result_stands_beside_the_simulated_one(lab: Page):
    paste(lab, RESULT)
    row = lab.locator("#pasted tbody tr").first
    expect(row).to_contain_text("Requests")
    expect(row.locator("td").nth(0)).to_have_text("2.00")
    expect(row.locator("td").nth(1)).not_to_have_text("–")


def test_unreadable_paste_is_said_and_the_scenario_stays(lab: Page, complaints: list[str]):
    before = query(lab)
    paste(lab, "hello")
    expect(lab.locator("#pasted [role=alert]")).to_contain_text("hello is not accepted")
    assert query(lab) == before
    complaints.clear()  # the browser notes the 422


def test_file_is_read(lab: Page):
    lab.locator("#paste > summary").click()
    lab.locator("#paste input[type=file]").set_input_files(
        {"name": "serve.sh", "mimeType": "text/plain", "buffer": COMMAND.encode()}
    )
    lab.get_by_role("button", name="Read it").click()
    expect(lab.locator("#pasted h3")).to_have_text("A command · vLLM")


def test_scenario_that_is_shown_now_is_given_as_commands(lab: Page):
    lab.locator("#c-max_num_seqs").fill("5")
    lab.locator("#c-max_num_seqs").press("Enter")
    lab.wait_for_url("**max_num_seqs=5*")
    lab.locator("#paste > summary").click()
    lab.get_by_role("link", name="This scenario as commands").click()
    expect(lab.locator("#command-serve")).to_contain_text("--max-num-seqs 5")
    lab.context.grant_permissions(["clipboard-read", "clipboard-write"])
    lab.locator('[data-copy="command-serve"]').click()
    assert lab.evaluate("navigator.clipboard.readText()").startswith("vllm serve")


def test_steps_still_bring_their_frame(lab: Page):
    paste(lab, COMMAND)
    expect(lab.locator("#pasted h3")).to_be_visible()
    step(lab, "forward")
