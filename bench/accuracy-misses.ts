import type { Answers } from "./accuracy-answers.ts"

/** Every text that was answered wrongly, a line each: what it is, the text, and what was answered. Empty: none was. */
export function missLines({ labelled, traps, typos, corrected, rolesMissed, rolesFalse }: Answers): readonly string[] {
  const line = (...cells: readonly string[]): string => cells.join("\t")
  return [
    ...labelled
      .filter(({ label, answered }) => answered !== label)
      .map(({ label, text, answered }) => line(label, text, answered)),
    ...traps
      .filter(({ label, answered }) => answered !== label)
      .map(({ label, text, answered }) => line(`trap ${label}`, text, answered)),
    ...typos
      .filter(({ offered, meant }) => offered !== meant)
      .map(({ text, meant, offered }) => line("typo", text, `${offered ?? "nothing"}, not ${meant}`)),
    ...corrected.map(({ text, offered }) => line("kept", text, offered)),
    ...rolesMissed.map(text => line("role", text, "no role")),
    ...rolesFalse.map(text => line("not a role", text, "a role")),
  ]
}
