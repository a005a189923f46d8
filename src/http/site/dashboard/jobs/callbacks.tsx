/** @jsxImportSource preact */

import { FETCH_ERROR_CAUSES, type FetchErrorCause } from "../../../../check/fetch/fetch-target.ts"
import { CALLBACK_ENDINGS, CALLBACK_LIMITS } from "../../../../contract/callbacks.ts"
import type { JobBody } from "../../../../contract/jobs-schema.ts"
import { ROUTES } from "../../../../contract/routes.ts"
import type { CallbackState } from "../../../../customers/jobs/callback-queue.ts"
import type { NewCallbackSecret } from "../../../../customers/jobs/callback-secrets.ts"
import type { SignedInUser } from "../../guards.ts"
import { pathWithId } from "../../links.ts"
import { formatCount } from "../../ui/format.ts"
import { ActionButton, LinkButton, Timestamp } from "../../ui/forms.tsx"
import { Notice, Panel } from "../../ui/panels.tsx"
import { Table } from "../../ui/table.tsx"
import { DashboardLayout } from "../dashboard-layout.tsx"

/** What the callback URL of a list was told, and how it went. */
export function ListCallbacks(props: { readonly list: JobBody; readonly callbacks: readonly CallbackState[] }) {
  const { list, callbacks } = props
  if (list.callback === null) return null
  return (
    <Panel title="Callbacks" link={<a href={`${ROUTES.docsWholeLists.path}#callbacks`}>How to receive them</a>}>
      <p class="hint">
        To <bdi class="any">{list.callback}</bdi>
      </p>
      {callbacks.length === 0 ? (
        <p>None yet. We call when the list is done, paused or stopped.</p>
      ) : (
        <Table caption="Callbacks of this list" columns={["Event", "When", "Attempts", "Last attempt", "State", ""]}>
          {callbacks.map(callback => (
            <CallbackRow key={callback.id} jobId={list.id} callback={callback} />
          ))}
        </Table>
      )}
    </Panel>
  )
}

function CallbackRow({ jobId, callback }: { readonly jobId: string; readonly callback: CallbackState }) {
  const { id, event, happenedAtMs, attemptCount, triedAtMs, result, ending, dueAtMs } = callback
  return (
    <tr>
      <th scope="row" class="name">
        <code>{event}</code>
      </th>
      <td>
        <Timestamp atMs={happenedAtMs} />
      </td>
      <td class="number">{attemptCount}</td>
      <td>
        {triedAtMs === null ? "none" : <Timestamp atMs={triedAtMs} />}
        {result === null ? null : `: ${resultText(result)}`}
      </td>
      <td>
        {ending === null ? (
          <>
            Next attempt <Timestamp atMs={dueAtMs} />
          </>
        ) : (
          CALLBACK_ENDINGS[ending].description
        )}
      </td>
      <td>
        <ActionButton
          path={pathWithId("postCallbackAgain", jobId)}
          fields={{ callback: id }}
          label="Send again"
          hiddenLabel={event}
        />
      </td>
    </tr>
  )
}

const isCause = (result: string): result is FetchErrorCause => Object.hasOwn(FETCH_ERROR_CAUSES, result)

/** What an attempt came to, in words. */
export function resultText(result: string): string {
  if (isCause(result)) return FETCH_ERROR_CAUSES[result]
  return /^3\d\d$/.test(result) ? `Answered ${result}: redirects are not followed.` : `Answered ${result}.`
}

/** What signs callbacks, and the button that creates or replaces it. `madeAtMs` null: there is none yet. */
export function CallbackSecretSection({ madeAtMs }: { readonly madeAtMs: number | null }) {
  return (
    <details>
      <summary>Callback secret</summary>
      <p class="hint">
        We can notify your server when a list is done, signed with your callback secret.{" "}
        <a href={`${ROUTES.docsWholeLists.path}#callbacks`}>How callbacks work</a>.{" "}
        {madeAtMs === null ? (
          "You have none yet."
        ) : (
          <>
            Created <Timestamp atMs={madeAtMs} />. A replaced secret still signs too for{" "}
            {formatCount(CALLBACK_LIMITS.formerSecretHours, "hour")}.
          </>
        )}
      </p>
      <ActionButton
        path={ROUTES.postDashboardCallbackSecret.path}
        label={madeAtMs === null ? "Create a callback secret" : "Replace the callback secret"}
      />
    </details>
  )
}

/** Displays a new callback secret. No other page does. */
export function NewCallbackSecretPage(props: { readonly user: SignedInUser; readonly made: NewCallbackSecret }) {
  const { secret, formerUntilMs } = props.made
  return (
    <DashboardLayout route="dashboardJobs" title="Your callback secret" user={props.user}>
      <Notice tone="review">
        Copy it now: <strong>you cannot see it again.</strong> Store it in an environment variable, never in code.
      </Notice>
      <div class="secret">
        <code class="copied" data-copy-name="secret">
          {secret}
        </code>
      </div>
      {formerUntilMs === null ? null : (
        <p>
          Your former secret signs too until <Timestamp atMs={formerUntilMs} />.
        </p>
      )}
      <p>
        <LinkButton path={ROUTES.dashboardJobs.path} label="Back to your lists" look="quiet" />
      </p>
    </DashboardLayout>
  )
}
