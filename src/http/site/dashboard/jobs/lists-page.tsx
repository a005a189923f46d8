/** @jsxImportSource preact */
import { CALLBACK_LIMITS } from "../../../../contract/callbacks.ts"
import { JOB_LIMITS } from "../../../../contract/jobs.ts"
import type { JobBody } from "../../../../contract/jobs-schema.ts"
import { POLICIES, POLICY_NAMES } from "../../../../contract/policies.ts"
import { ROUTES } from "../../../../contract/routes.ts"
import type { SignedInUser } from "../../guards.ts"
import { pathWithId } from "../../links.ts"
import { formatBytes, formatCount, formatNumber, formatShare } from "../../ui/format.ts"
import { FlashMessage, FormError, LinkButton, RadioCards, TextArea, TextField, Timestamp } from "../../ui/forms.tsx"
import { Empty, Panel } from "../../ui/panels.tsx"
import { type CellColumn, RowTable } from "../../ui/table.tsx"
import { DashboardLayout } from "../dashboard-layout.tsx"
import { CallbackSecretSection } from "./callbacks.tsx"
import { ResultBar } from "./list-page.tsx"
import { ListPreview, type PreviewedList } from "./list-preview.tsx"
import { PASTED_LENGTH_MAX, type UploadFault, type UploadValues } from "./list-upload.ts"
import { listName, STATE_LABELS } from "./list-words.ts"
import { isReadingSaid, ReadingFields } from "./reading-fields.tsx"

type ListsPageProps = {
  readonly user: SignedInUser
  readonly lists: readonly JobBody[]
  readonly values: UploadValues
  /** Null: nothing was sent, or all of it was right. */
  readonly fault: UploadFault | null
  /** How the list that was sent is read, and what it would cost; null: that was not asked. */
  readonly preview: PreviewedList | null
  readonly flash: string | null
  /** When the callback secret was made; null: there is none. */
  readonly secretMadeAtMs: number | null
  readonly bytesMax: number
  readonly keepHours: number
  readonly script: string
}

/** The account's lists, and the form that uploads one. */
export function ListsPage({ user, lists, flash, script, secretMadeAtMs, keepHours, ...form }: ListsPageProps) {
  const isFull = lists.length >= JOB_LIMITS.jobsPerAccountMax
  return (
    <DashboardLayout
      {...{ route: "dashboardJobs", title: "Check a list", user, scripts: [script] }}
      action={<LinkButton path={ROUTES.docsWholeLists.path} label="How it works" look="small" />}
    >
      <FlashMessage message={flash} />
      <FormError message={form.fault?.field === "form" ? form.fault.message : null} />
      {isFull ? (
        <Empty>
          You have {JOB_LIMITS.jobsPerAccountMax} lists, the most an account can have. Delete one to upload another.
        </Empty>
      ) : (
        <UploadForm {...form} />
      )}
      <Panel
        title="Earlier lists"
        link={<span class="hint">Deleted {formatCount(keepHours, "hour")} after the check</span>}
      >
        {lists.length === 0 ? (
          <p class="because">No lists yet. Yours appear here.</p>
        ) : (
          <RowTable caption="Earlier lists" columns={LIST_COLUMNS} rows={lists} />
        )}
      </Panel>
      <CallbackSecretSection madeAtMs={secretMadeAtMs} />
    </DashboardLayout>
  )
}

const LIST_COLUMNS: readonly CellColumn<JobBody>[] = [
  {
    ...{ name: "Name", kind: "text" },
    cell: list => (
      <a href={pathWithId("dashboardJob", list.id)}>
        <bdi>{listName(list)}</bdi>
      </a>
    ),
  },
  { name: "State", kind: "pill", cell: listState },
  {
    ...{ name: "Result", kind: "pill", onPhone: "first" },
    cell: list => <ResultBar list={list} />,
  },
  { name: "Rows", kind: "number", onPhone: "labelled", cell: ({ rows }) => formatNumber(rows.total) },
  { name: "Uploaded", kind: "time", cell: list => <Timestamp atMs={Date.parse(list.created_at)} /> },
]

/** The state of a list, and how far it is unless it is done. */
function listState({ state, rows }: JobBody) {
  const done = rows.done === 0 || state === "done" ? "" : ` ${formatShare(rows.done, rows.total)}`
  const tone = state === "failed" ? "block" : state === "stopped" ? "review" : state === "done" ? "ended" : "changed"
  return (
    <span class={`pill as-is ${tone}`}>
      {STATE_LABELS[state]}
      {done}
    </span>
  )
}

const POLICY_CARDS = POLICY_NAMES.map(value => ({ value, label: value, description: POLICIES[value].description }))

type UploadFormProps = Pick<ListsPageProps, "values" | "fault" | "preview" | "bytesMax">

/** The file comes last: what stands before it says how it is read while it arrives. The script puts it first. */
function UploadForm({ values, fault, preview, bytesMax }: UploadFormProps) {
  const errorAt = (field: UploadFault["field"]) => (fault?.field === field ? fault.message : null)
  const isSent = fault !== null || preview !== null
  return (
    <form
      {...{ class: isSent ? "form list-form is-sent" : "form list-form", id: "list-form", noValidate: true }}
      {...{ method: "post", encType: "multipart/form-data", action: ROUTES.postDashboardJob.path }}
      data-bytes-max={bytesMax}
    >
      <input type="hidden" name="once" value={values.once} />
      <div class="chosen">
        {preview === null ? <div id="preview" hidden /> : <ListPreview {...preview} />}
        <RadioCards
          {...{ name: "policy", legend: "Policy", cards: POLICY_CARDS, selected: values.policy }}
          error={errorAt("policy")}
        />
        <OptionFields {...{ values, fault, preview, errorAt }} />
      </div>
      <PasteField value={values.pasted} />
      <FileField bytesMax={bytesMax} error={errorAt("file")} />
      <SendButtons preview={preview} isFileGone={isSent && values.pasted === ""} />
    </form>
  )
}

type SendButtonsProps = Pick<ListsPageProps, "preview"> & {
  /** Whether the form was sent with a file before, which browsers do not keep. */
  readonly isFileGone: boolean
}

/** What starts the check, and what shows how the list is read before. */
function SendButtons({ preview, isFileGone }: SendButtonsProps) {
  const {
    rows,
    units_needed: needed,
    units_left: left,
  } = preview?.body ?? { rows: null, units_needed: 0, units_left: null }
  return (
    <div class="actions chosen" id="send">
      {isFileGone ? (
        <p class="without-script">
          <strong>Choose the file again first:</strong> without scripts, browsers do not keep it. Everything else is as
          you left it.
        </p>
      ) : null}
      {rows === 0 ? null : (
        <button type="submit">{rows === null ? "Check the list" : `Check ${formatCount(rows, "row")}`}</button>
      )}
      <button type="submit" class="quiet without-script" formAction={`${ROUTES.postJobEstimate.path}#preview`}>
        {preview === null ? "Preview" : "Preview again"}
      </button>
      {preview === null || rows === 0 ? null : (
        <span>
          Costs <b>{formatCount(needed, "unit")}</b>.
          {left === null ? null : <span class="because"> {formatNumber(left)} left today.</span>}
        </span>
      )}
    </div>
  )
}

type OptionFieldsProps = Pick<ListsPageProps, "values" | "fault" | "preview"> & {
  readonly errorAt: (field: UploadFault["field"]) => string | null
}

/** What most people need not say. */
function OptionFields({ values, fault, preview, errorAt }: OptionFieldsProps) {
  const { name, callback, marksDuplicates } = values
  const isSaid = [name, callback].some(text => text !== "") || marksDuplicates || isReadingSaid(values, errorAt)
  return (
    <details open={isSaid || errorAt("name") !== null || errorAt("callback") !== null}>
      <summary>Options</summary>
      <div class="folded reading-fields">
        <TextField
          {...{ name: "name", label: "Name", value: name, maxLength: JOB_LIMITS.nameLengthMax, autocomplete: "off" }}
          hint="Optional. We use the file's name if you leave it blank."
          error={errorAt("name")}
        />
        <TextField
          {...{ name: "callback", label: "Callback URL", value: callback, maxLength: CALLBACK_LIMITS.urlLengthMax }}
          {...{ autocomplete: "off", spellcheck: false }}
          hint="Optional. We call it when the list is done or stops. You get an email either way."
          error={errorAt("callback")}
        />
        <label class="check">
          <input type="checkbox" name="duplicates" value="yes" checked={marksDuplicates} />
          <span>Mark duplicates in the results</span>
        </label>
        <ReadingFields values={values} errorAt={errorAt} found={preview?.body ?? null} choice={fault?.choice ?? null} />
      </div>
    </details>
  )
}

/** With a script, what is pasted anywhere on the page becomes a file. */
const PasteField = ({ value }: { readonly value: string }) => (
  <details class="paste" open={value !== ""}>
    <summary class="button small">Paste addresses</summary>
    <TextArea
      {...{ name: "pasted", label: "Addresses, domains or websites, one per line", value }}
      {...{ maxLength: PASTED_LENGTH_MAX, placeholder: " ", spellcheck: false, autocomplete: "off" }}
    />
  </details>
)

/** The input fills the whole zone, so that a file can be dropped on it without a script. */
function FileField({ bytesMax, error }: { readonly bytesMax: number; readonly error: string | null }) {
  const described = error === null ? "file-hint" : "file-fault file-hint"
  return (
    <div class="drop">
      <label for="file">
        <span>Drop a file here</span>
        <span>Choose a file</span>
      </label>
      <p class="hint" id="file-hint">
        CSV, Excel, text, NDJSON or gzip. Up to {formatBytes(bytesMax)}. 1 unit per row.
      </p>
      <input
        {...{ type: "file", id: "file", class: "drop-input", name: "file", required: true }}
        aria-describedby={described}
        accept=".csv,.tsv,.txt,.xlsx,.json,.ndjson,.jsonl,.gz,.zip,text/csv,text/plain"
        {...(error === null ? {} : { "aria-invalid": true })}
      />
      {error === null ? null : (
        <p class="fault" id="file-fault" role="alert">
          {error}
        </p>
      )}
    </div>
  )
}
