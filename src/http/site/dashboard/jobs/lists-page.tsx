/** @jsxImportSource preact */
import { CALLBACK_LIMITS } from "../../../../contract/callbacks.ts"
import { JOB_LIMITS } from "../../../../contract/jobs.ts"
import type { JobBody } from "../../../../contract/jobs-schema.ts"
import { ROUTES } from "../../../../contract/routes.ts"
import type { SeenList } from "../../../v1/jobs.ts"
import type { SignedInUser } from "../../guards.ts"
import { pathWithId } from "../../links.ts"
import { formatCount } from "../../ui/format.ts"
import { FlashMessage, FormError, TextField, Timestamp } from "../../ui/forms.tsx"
import { Table } from "../../ui/layout.tsx"
import { PolicyField } from "../../ui/policy-field.tsx"
import { DashboardLayout } from "../dashboard-layout.tsx"
import { CallbackSecretSection } from "./callbacks.tsx"
import { ListPreview } from "./list-preview.tsx"
import { formatBytes, type UploadFault, type UploadValues } from "./list-upload.ts"
import { listName, rowsDone, STATE_LABELS } from "./list-words.ts"
import { ReadingFields } from "./reading-fields.tsx"

type ListsPageProps = {
  readonly user: SignedInUser
  readonly lists: readonly JobBody[]
  readonly values: UploadValues
  /** Null: nothing was sent, or all of it was right. */
  readonly fault: UploadFault | null
  /** How the list that was sent is read, and what it would cost; null: that was not asked. */
  readonly preview: SeenList | null
  readonly flash: string | null
  /** When the callback secret was made; null: there is none. */
  readonly secretMadeAtMs: number | null
  readonly bytesMax: number
  readonly keepHours: number
  readonly script: string
}

/** The account's lists, and the form that uploads one. */
export function ListsPage({ user, lists, flash, script, secretMadeAtMs, ...form }: ListsPageProps) {
  return (
    <DashboardLayout route="dashboardJobs" title="Lists" user={user} scripts={[script]}>
      <FlashMessage message={flash} />
      <p class="lead">
        Upload a whole list and download it with a verdict for each row. A row costs one unit. Lists and results are
        deleted {formatCount(form.keepHours, "hour")} after the check has ended.{" "}
        <a href={ROUTES.docsWholeLists.path}>How it works</a>
      </p>
      <UploadSection {...form} isFull={lists.length >= JOB_LIMITS.jobsPerAccountMax} />
      <h2 id="lists">Your lists</h2>
      {lists.length === 0 ? <p>You have no lists yet.</p> : <ListTable lists={lists} />}
      <CallbackSecretSection madeAtMs={secretMadeAtMs} />
    </DashboardLayout>
  )
}

function ListTable({ lists }: Pick<ListsPageProps, "lists">) {
  return (
    <Table caption="Your lists" columns={["Name", "State", "Rows", "Uploaded"]}>
      {lists.map(list => (
        <tr key={list.id}>
          <th scope="row" class="name">
            <a href={pathWithId("dashboardJob", list.id)}>
              <bdi>{listName(list)}</bdi>
            </a>
          </th>
          <td>{STATE_LABELS[list.state]}</td>
          <td>{rowsDone(list)}</td>
          <td>
            <Timestamp atMs={Date.parse(list.created_at)} />
          </td>
        </tr>
      ))}
    </Table>
  )
}

type UploadSectionProps = Pick<ListsPageProps, "values" | "fault" | "preview" | "bytesMax"> & {
  readonly isFull: boolean
}

function UploadSection({ isFull, ...form }: UploadSectionProps) {
  return (
    <section aria-labelledby="upload">
      <h2 id="upload">Check a list</h2>
      <FormError message={form.fault?.field === "form" ? form.fault.message : null} />
      {isFull ? (
        <p>
          You have {JOB_LIMITS.jobsPerAccountMax} lists, the most an account can have. Delete one to upload another.
        </p>
      ) : (
        <UploadForm {...form} />
      )}
    </section>
  )
}

/** The file comes last: what stands before it says how it is read while it arrives. The script shows it first. */
function UploadForm({ values, fault, preview, bytesMax }: Omit<UploadSectionProps, "isFull">) {
  const errorAt = (field: UploadFault["field"]) => (fault?.field === field ? fault.message : null)
  return (
    <form
      class="form"
      id="list-form"
      method="post"
      encType="multipart/form-data"
      action={ROUTES.postDashboardJob.path}
      data-bytes-max={bytesMax}
    >
      <TextField
        name="name"
        label="Name"
        hint="Yours, to find the list again. Empty: the name of the file."
        value={values.name}
        maxLength={JOB_LIMITS.nameLengthMax}
        autocomplete="off"
        error={errorAt("name")}
      />
      <PolicyField selected={values.policy} error={errorAt("policy")} />
      <ReadingFields values={values} errorAt={errorAt} found={preview?.body ?? null} choice={fault?.choice ?? null} />
      <CallbackField value={values.callback} error={errorAt("callback")} />
      <FileField isSent={fault !== null || preview !== null} bytesMax={bytesMax} error={errorAt("file")} />
      {preview === null ? <div class="wide-field" id="preview" hidden /> : <ListPreview values={values} {...preview} />}
      <div class="actions">
        <button type="submit">Check the list</button>
        <button type="submit" class="small" formAction={`${ROUTES.postJobEstimate.path}#preview`}>
          Preview
        </button>
        <span class="hint">A preview stores nothing and costs {formatCount(JOB_LIMITS.dryRunUnits, "unit")}.</span>
      </div>
    </form>
  )
}

type FileFieldProps = {
  /** Whether the form was sent with a file before. */
  readonly isSent: boolean
  readonly bytesMax: number
  readonly error: string | null
}

function FileField({ isSent, bytesMax, error }: FileFieldProps) {
  return (
    <TextField
      type="file"
      name="file"
      label="File"
      hint={
        <>
          CSV, Excel (.xlsx), text, JSON or NDJSON, also in gzip or zip. Up to {formatBytes(bytesMax)}.
          {isSent ? (
            <span class="without-script">
              {" "}
              <strong>Choose the file again:</strong> without scripts, browsers do not keep it. The other fields are as
              you left them.
            </span>
          ) : null}
        </>
      }
      accept=".csv,.tsv,.txt,.xlsx,.json,.ndjson,.jsonl,.gz,.zip,text/csv,text/plain"
      required
      error={error}
    />
  )
}

/** The URL that gets callbacks, which few people need. */
function CallbackField({ value, error }: { readonly value: string; readonly error: string | null }) {
  return (
    <details open={value !== "" || error !== null}>
      <summary>Callback</summary>
      <div class="folded">
        <TextField
          name="callback"
          label="Callback URL"
          hint="A URL of https that gets a request when the list is done, stops or ends early. Empty: you only get an email."
          value={value}
          maxLength={CALLBACK_LIMITS.urlLengthMax}
          autocomplete="off"
          spellcheck={false}
          error={error}
        />
      </div>
    </details>
  )
}
