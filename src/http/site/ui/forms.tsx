import type { ComponentChildren, JSX } from "preact"
import { queryParameters } from "../../request/request-url.ts"

/** @jsxImportSource preact */
type FieldProps = {
  /** The field's name in the form, and its id. */
  readonly name: string
  readonly label: string
  /** What to write, in a sentence. */
  readonly hint?: ComponentChildren
  /** What is wrong with what was written; null: nothing. */
  readonly error?: string | null
}

/** A field for a line of text, with its label, hint and fault. Attributes of `input` go with it. */
export function TextField({ name, label, hint, error, ...input }: FieldProps & JSX.IntrinsicElements["input"]) {
  return (
    <LabelledField name={name} label={label} hint={hint} error={error ?? null}>
      <input type="text" {...input} id={name} name={name} {...ariaDescription(name, hint, error ?? null)} />
    </LabelledField>
  )
}

/** A field for many lines of text. */
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
        {/* A line feed at the start would be taken for the one that may follow the tag (HTML §13.1.2.5). */}
        {/^[\r\n]/.test(value ?? "") ? `\n${value}` : value}
      </textarea>
    </LabelledField>
  )
}

type SelectFieldProps = FieldProps & {
  readonly options: readonly { readonly value: string; readonly label: string }[]
  readonly selected: string
}

/** A choice of one of a few. */
export function SelectField({ name, label, hint, error, options, selected: chosen }: SelectFieldProps) {
  return (
    <LabelledField name={name} label={label} hint={hint} error={error ?? null}>
      <select id={name} name={name} {...ariaDescription(name, hint, error ?? null)}>
        {options.map(option => (
          <option key={option.value} value={option.value} selected={option.value === chosen}>
            {option.label}
          </option>
        ))}
      </select>
    </LabelledField>
  )
}

type LabelledFieldProps = Required<Pick<FieldProps, "name" | "label">> & {
  readonly hint: ComponentChildren
  readonly error: string | null
  readonly children: ComponentChildren
}

function LabelledField({ name, label, hint, error, children }: LabelledFieldProps) {
  return (
    <div class="field">
      <label for={name}>{label}</label>
      {children}
      {error === null ? null : (
        <p class="fault" id={`${name}-fault`} role="alert">
          {error}
        </p>
      )}
      {hint === undefined ? null : (
        <p class="hint" id={`${name}-hint`}>
          {hint}
        </p>
      )}
    </div>
  )
}

function ariaDescription(name: string, hint: ComponentChildren, fault: string | null) {
  const ids = [...(fault === null ? [] : [`${name}-fault`]), ...(hint === undefined ? [] : [`${name}-hint`])]
  return {
    ...(ids.length === 0 ? {} : { "aria-describedby": ids.join(" ") }),
    ...(fault === null ? {} : { "aria-invalid": true }),
  }
}

/** What was done, said above the page's content. */
export function FlashMessage({ message }: { readonly message: string | null }) {
  return message === null ? null : (
    <p class="done" role="status">
      {message}
    </p>
  )
}

/** What kept a whole form from being done. */
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
  /** Names and values that are sent along. */
  readonly fields?: Readonly<Record<string, string>>
  /** For those who do not see what the button stands beside. */
  readonly hiddenLabel?: string
  readonly isDangerous?: boolean
}

/** A button that is a form of its own. */
export function ActionButton({ path, label, fields = {}, hiddenLabel, isDangerous = false }: ActionButtonProps) {
  return (
    <form class="action" method="post" action={path}>
      {Object.entries(fields).map(([name, value]) => (
        <input key={name} type="hidden" name={name} value={value} />
      ))}
      <button type="submit" class={isDangerous ? "danger small" : "small"}>
        {label}
        {hiddenLabel === undefined ? null : <span class="unseen"> {hiddenLabel}</span>}
      </button>
    </form>
  )
}

/** An instant, in UTC, as people read it and as programs do. */
export function Timestamp({ atMs }: { readonly atMs: number }) {
  const iso = new Date(atMs).toISOString()
  return (
    <time class="short" dateTime={iso}>
      {`${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC`}
    </time>
  )
}

/** The parameter of a page's URL that names what was done just before. */
const FLASH_PARAMETER = "done"

/** What was done, in the words that the page has for it; null: nothing, or nothing that it knows. */
export function flashMessage(url: string, deeds: Readonly<Record<string, string>>): string | null {
  const name = queryParameters(url).get(FLASH_PARAMETER)
  return name !== null && Object.hasOwn(deeds, name) ? (deeds[name] ?? null) : null
}
