/** @jsxImportSource preact */
import type { LookUp } from "../../check/look-up.ts"
import { CATEGORY_NAMES } from "../../contract/categories.ts"
import { ROUTES } from "../../contract/routes.ts"
import { Sample } from "./layout.tsx"

type Props = {
  readonly baseUrl: string
  /** What was looked up; null: nothing. */
  readonly found: LookUp | null
}

/** How a wrong listing is reported, with the domain that was looked up where there is one. */
export function MistakesSection({ baseUrl, found }: Props) {
  const isFound = found?.kind === "domain" && found.category !== "invalid"
  const domain = isFound ? found.domain : "example.com"
  const expected = CATEGORY_NAMES.find(category => !isFound || category !== found.category) ?? "business"
  return (
    <section aria-labelledby="mistakes">
      <h2 id="mistakes">Report a mistake</h2>
      <p>
        Whoever has a key reports a wrong verdict to the operator of this server, by this line or{" "}
        <a href={ROUTES.feedback.path}>on the dashboard</a>. Once the report is accepted, the domain has the right
        category for everybody here.
      </p>
      <Sample caption="Report" code={reportLine(baseUrl, { domain, expected_category: expected })} />
      <p>
        The operator needs no report: <code>mailkind allow add {domain}</code> takes a domain out of the sets{" "}
        <code>disposable</code> and <code>relay</code>, <code>mailkind block add {domain}</code> has it blocked.
      </p>
      <p>
        A mistake in a source is best put right where the source comes from, which is told <a href="#sources">below</a>:
        a refresh brings it here.
      </p>
    </section>
  )
}

/** A command for a shell that reports a wrong verdict. */
const reportLine = (baseUrl: string, report: Readonly<Record<string, string>>): string =>
  [
    `curl -s '${baseUrl}${ROUTES.postFeedback.path}'`,
    "-H 'Authorization: Bearer <API_KEY>'",
    "-H 'Content-Type: application/json'",
    `-d '${JSON.stringify(report)}'`,
  ].join(" \\\n  ")
