/** @jsxImportSource preact */

import type { ComponentChildren, JSX, VNode } from "preact"
import { formatDate, formatInstant } from "../../../base/time.ts"
import { NOT_SENT } from "../links.ts"

/** A sentence, or more than a paragraph can hold. */
export type FieldError = string | VNode | null

type FieldProps = {
  /** The name of the field, and its element id. */
  readonly name: string
  readonly label: string
  /** A sentence about what to enter. */
  readonly hint?: ComponentChildren
  /** What is wrong with the entered value; null: nothing. */
  readonly error?: FieldError
}

/** A text input with its label, hint and error. Further attributes go to the `input` element. */
export function TextField({ name, label, hint, error, ...input }: FieldProps & JSX.IntrinsicElements["input"]) {
  return (
    <LabelledField name={name} label={label} hint={hint} error={error ?? null}>
      <input type="text" {...input} id={name} name={name} {...ariaDescription(name, hint, error ?? null)} />
    </LabelledField>
  )
}

/** A multi-line text input. */
export function TextArea({
  name,
  label,
  hint,
  error,
  value,
  ...area
}: FieldProps & JSX.IntrinsicElements["textarea"] & { readonly value?: string }) {
  return (
    <LabelledField name={name} label={label} hint={hint} error={error ?? null}>
      <textarea {...area} id={name} name={name} {...ariaDescription(name, hint, error ?? null)}>
        {/* HTML parsers drop a line feed right after the tag (HTML §13.1.2.5). */}
        {/^[\r\n]/.test(value ?? "") ? `\n${value}` : value}
      </textarea>
    </LabelledField>
  )
}

type SelectProps = Pick<FieldProps, "name" | "hint" | "error"> & {
  /** Of the element, where another form of the page has a field of this name. Absent: its name. */
  readonly id?: string
  readonly options: readonly { readonly value: string; readonly label: string }[]
  readonly selected: string
}

/** A drop-down list whose label stands elsewhere. What is wrong with its value stands below it. */
export const Select = ({ name, id = name, hint, error = null, options, selected }: SelectProps) => (
  <>
    <select id={id} name={name} {...ariaDescription(id, hint, error)}>
      {options.map(option => (
        <option key={option.value} value={option.value} selected={option.value === selected}>
          {option.label}
        </option>
      ))}
    </select>
    <FieldNotes name={id} error={error} hint={hint} />
  </>
)

/** The option of a filter that leaves all in. */
export const ANY_OPTION = { value: "", label: "All" } as const

/** A drop-down list with its label. */
export const SelectField = ({ label, ...select }: SelectProps & Pick<FieldProps, "label">) => (
  <div class="field">
    <label for={select.id ?? select.name}>{label}</label>
    <Select {...select} />
  </div>
)

type RadioCardsProps = {
  readonly name: string
  readonly legend: string
  readonly cards: readonly { readonly value: string; readonly label: string; readonly description: string }[]
  readonly selected: string
  readonly error: string | null
}

/** A few choices of which one is made, each with what it means. */
export function RadioCards({ name, legend, cards, selected, error }: RadioCardsProps) {
  return (
    <fieldset {...(error === null ? {} : { "aria-describedby": `${name}-fault` })}>
      <legend>{legend}</legend>
      <div class="cards">
        {cards.map(({ value, label, description }) => (
          <label key={value} class="option-card">
            <input
              {...{ type: "radio", name, value, checked: value === selected, required: true }}
              aria-labelledby={`${name}-${value}`}
              aria-describedby={`${name}-${value}-hint`}
            />
            <span>
              <b id={`${name}-${value}`}>{label}</b>
              <span class="hint" id={`${name}-${value}-hint`}>
                {description}
              </span>
            </span>
          </label>
        ))}
      </div>
      <FieldNotes name={name} error={error} hint={undefined} />
    </fieldset>
  )
}

type FieldNotesProps = {
  readonly name: string
  readonly error: FieldError
  readonly hint: ComponentChildren
}

/** Below a field: what is wrong with its value, and what to enter. */
export function FieldNotes({ name, error, hint }: FieldNotesProps) {
  const Fault = typeof error === "string" ? "p" : "div"
  return (
    <>
      {error === null ? null : (
        <Fault class="fault" id={`${name}-fault`} role="alert">
          {error}
        </Fault>
      )}
      {hint === undefined ? null : (
        <p class="hint" id={`${name}-hint`}>
          {hint}
        </p>
      )}
    </>
  )
}

type LabelledFieldProps = FieldNotesProps & { readonly label: string; readonly children: ComponentChildren }

const LabelledField = ({ name, label, hint, error, children }: LabelledFieldProps) => (
  <div class="field">
    <label for={name}>{label}</label>
    {children}
    <FieldNotes name={name} error={error} hint={hint} />
  </div>
)

/** Ties a field to the notes below it. */
export function ariaDescription(name: string, hint: ComponentChildren, error: FieldError) {
  const ids = [...(error === null ? [] : [`${name}-fault`]), ...(hint === undefined ? [] : [`${name}-hint`])]
  return {
    ...(ids.length === 0 ? {} : { "aria-describedby": ids.join(" ") }),
    ...(error === null ? {} : { "aria-invalid": true }),
  }
}

/** Confirms above the content what the previous request did. Nothing when `message` is null. */
export function FlashMessage({ message }: { readonly message: ComponentChildren }) {
  return message === null ? null : (
    <p class={message === NOT_SENT ? "told" : "done"} role="status">
      {message}
    </p>
  )
}

/** Explains above the content why a form was rejected. Nothing when `message` is null. */
export function FormError({ message }: { readonly message: string | null }) {
  return message === null ? null : (
    <p class="fault boxed" role="alert">
      {message}
    </p>
  )
}

type ActionButtonProps = {
  readonly path: string
  readonly label: string
  /** Hidden fields. */
  readonly fields?: Readonly<Record<string, string>>
  /** Added to the label for screen readers, which do not see the row. */
  readonly hiddenLabel?: string
  readonly isDangerous?: boolean
  /** Primary: the first choice of its page. Quiet: another choice beside it. */
  readonly look?: "primary" | "quiet" | "small"
}

type HiddenFieldsProps = { readonly fields: Readonly<Record<string, string>> }

/** What a form sends besides what people enter. */
export const HiddenFields = ({ fields }: HiddenFieldsProps) => (
  <>
    {Object.entries(fields).map(([name, value]) => (
      <input key={name} type="hidden" name={name} value={value} />
    ))}
  </>
)

/** A form that consists of one button. */
export function ActionButton(props: ActionButtonProps) {
  const { path, label, fields = {}, hiddenLabel, isDangerous = false, look = "small" } = props
  return (
    <form class="action" method="post" action={path}>
      <HiddenFields fields={fields} />
      <button type="submit" class={`${isDangerous ? "danger " : ""}${look}`}>
        {label}
        {hiddenLabel === undefined ? null : <span class="unseen"> {hiddenLabel}</span>}
      </button>
    </form>
  )
}

type ConfirmationProps = {
  readonly path: string
  /** What the button does, in words. */
  readonly label: string
  /** Where a change of mind leads. */
  readonly cancelPath?: string
  /** Where it is not the title of the page: the question, under which all else is folded. */
  readonly question?: ComponentChildren
  readonly id?: string
  readonly isOpen?: boolean
  readonly isDangerous?: boolean
  /** Hidden fields. */
  readonly fields?: Readonly<Record<string, string>>
  /** What happens, and fields. */
  readonly children: ComponentChildren
}

/** Asks before something is done that cannot be undone, below the title of a page or in a fold: what happens, the button, the way back. */
export function Confirmation(props: ConfirmationProps) {
  const { path, label, cancelPath, question, id, isOpen = false, isDangerous = true, fields = {}, children } = props
  const form = (
    <form id={id} class={question === undefined ? "form panel" : "form"} method="post" action={path}>
      <HiddenFields fields={fields} />
      {children}
      <div class="actions">
        <button type="submit" class={isDangerous ? "danger primary" : "primary"}>
          {label}
        </button>
        {cancelPath === undefined ? null : <LinkButton path={cancelPath} label="Cancel" look="quiet" />}
      </div>
    </form>
  )
  if (question === undefined) return form
  return (
    <details class="panel" open={isOpen}>
      <summary class={isDangerous ? "wrong" : undefined}>{question}</summary>
      {form}
    </details>
  )
}

type LinkButtonProps = {
  readonly path: string
  readonly label: ComponentChildren
  readonly look?: "quiet" | "small" | "small danger"
}

/** A link that looks like a button. */
export const LinkButton = ({ path, label, look }: LinkButtonProps) => (
  <a class={look === undefined ? "button" : `button ${look}`} href={path}>
    {label}
  </a>
)

/** For a field whose text is no prose, such as a domain. */
export const VERBATIM = { autocomplete: "off", autocapitalize: "none", spellcheck: false } as const

/** An instant in UTC, with minutes. Where it is all that a cell says, and is past, `site.js` makes it relative. */
export const Timestamp = ({ atMs }: { readonly atMs: number }) => (
  <time dateTime={new Date(atMs).toISOString()}>{formatInstant(atMs)}</time>
)

/** The day of an instant. The title has its time. */
export const DateStamp = ({ atMs }: { readonly atMs: number }) => (
  <time dateTime={new Date(atMs).toISOString()} data-exact title={formatInstant(atMs)}>
    {formatDate(atMs)}
  </time>
)
