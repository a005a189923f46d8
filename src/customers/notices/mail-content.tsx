import { render } from "preact-render-to-string"

/** @jsxImportSource preact */
/** Programs that show mail know inline styles and little else, so these are the light colours and the whole layout. */
const STYLES = {
  body: "margin:0;padding:24px 12px;background:#f6f7f9;color:#16181d;font:16px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,sans-serif",
  letter:
    "max-width:560px;margin:0 auto;padding:24px;border:1px solid #dfe2e8;border-radius:12px;background:#ffffff;color:#16181d",
  brand: "margin:0 0 16px;font-weight:700;color:#4338ca",
  heading: "font-size:20px;line-height:1.3;margin:0 0 16px",
  facts: "margin:16px 0;padding:12px 16px;border-radius:8px;background:#f6f7f9;color:#16181d",
  fact: "margin:4px 0;overflow-wrap:anywhere",
  button:
    "display:inline-block;padding:10px 18px;border-radius:8px;background:#4338ca;color:#ffffff;font-weight:600;text-decoration:none",
  url: "font-size:13px;color:#565d69;overflow-wrap:anywhere",
  code: "margin:16px 0;padding:12px 16px;border-radius:8px;background:#f6f7f9;color:#16181d;font:600 28px/1.4 ui-monospace,Menlo,Consolas,monospace;letter-spacing:4px",
  footer: "margin:24px 0 0;padding:16px 0 0;border-top:1px solid #dfe2e8;font-size:13px;color:#565d69",
  link: "color:#4338ca",
} as const

/** The dark colours, for programs that know the question. The others show the light ones. */
const DARK_STYLES = `:root { color-scheme: light dark; supported-color-schemes: light dark }
@media (prefers-color-scheme: dark) {
  .paper { background: #111318 !important; color: #e8eaee !important }
  .letter { background: #1a1d24 !important; color: #e8eaee !important; border-color: #323743 !important }
  .panel { background: #111318 !important; color: #e8eaee !important }
  .soft { color: #a4abb8 !important; border-color: #323743 !important }
  .accent { color: #a5b0ff !important }
  .button { background: #a5b0ff !important; color: #111318 !important }
}`

/** The mail as a whole HTML document, which loads nothing from anywhere and has no table. */
export function renderMailHtml(content: MailContent): string {
  return `<!doctype html>\n${render(<MailPage {...content} />)}\n`
}

function MailPage({ subject, blocks }: MailContent) {
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="supported-color-schemes" content="light dark" />
        <title>{subject}</title>
        <style dangerouslySetInnerHTML={{ __html: DARK_STYLES }} />
      </head>
      <body class="paper" style={STYLES.body}>
        <div class="letter" style={STYLES.letter}>
          <p class="accent" style={STYLES.brand}>
            mailkind
          </p>
          <h1 style={STYLES.heading}>{subject}</h1>
          {blocks.map((piece, at) => (
            <MailBlockHtml key={at.toString()} piece={piece} />
          ))}
        </div>
      </body>
    </html>
  )
}

function MailBlockHtml({ piece }: { readonly piece: MailBlock }) {
  switch (piece.kind) {
    case "prose":
      return <p>{piece.text}</p>
    case "facts":
      return <Facts facts={piece.facts} />
    case "steps":
      return (
        <ol>
          {piece.steps.map(step => (
            <li key={step}>{step}</li>
          ))}
        </ol>
      )
    case "link":
      return (
        <p>
          <a href={piece.url} class="button" style={STYLES.button}>
            {piece.label}
          </a>
          <br />
          <span class="soft" style={STYLES.url}>
            {piece.url}
          </span>
        </p>
      )
    case "code":
      return (
        <p class="panel" style={STYLES.code}>
          {piece.code}
        </p>
      )
    case "footer":
      return (
        <p class="soft" style={STYLES.footer}>
          {piece.text}
          {piece.url === null ? null : (
            <>
              {" "}
              <a href={piece.url} class="accent" style={STYLES.link}>
                {piece.label}
              </a>
            </>
          )}
        </p>
      )
  }
}

function Facts({ facts }: { readonly facts: Extract<MailBlock, { kind: "facts" }>["facts"] }) {
  return (
    <div class="panel" style={STYLES.facts}>
      {facts.map(([name, value]) => (
        <p key={name} style={STYLES.fact}>
          <strong>{name}:</strong> {value}
        </p>
      ))}
    </div>
  )
}

/** One block of a mail, in words that text and HTML both show. */
export type MailBlock =
  | { readonly kind: "prose"; readonly text: string }
  /** What is known, name by value. */
  | { readonly kind: "facts"; readonly facts: readonly (readonly [name: string, value: string])[] }
  /** What to do, in this order. */
  | { readonly kind: "steps"; readonly steps: readonly string[] }
  | { readonly kind: "link"; readonly label: string; readonly url: string }
  /** A code to type somewhere. */
  | { readonly kind: "code"; readonly code: string }
  /** Why the mail came, or how to switch such mails off. */
  | { readonly kind: "footer"; readonly text: string; readonly label: string; readonly url: string | null }

/** What we write to somebody. The subject holds nothing that somebody else chose. */
export type MailContent = { readonly subject: string; readonly blocks: readonly MailBlock[] }

/** How long a line of text is, unless one word is longer (RFC 5322 §2.1.1 asks for at most 78). */
const LINE_LENGTH_MAX = 76

/** The mail as plain text, with line ends after every line. */
export function renderMailText({ blocks }: MailContent): string {
  return `${blocks.map(renderBlockText).join("\n\n")}\n`
}

function renderBlockText(piece: MailBlock): string {
  switch (piece.kind) {
    case "prose":
      return wrapText(piece.text, "")
    case "facts":
      return piece.facts.map(([name, value]) => wrapText(`${name}: ${value}`, "  ")).join("\n")
    case "steps":
      return piece.steps.map((step, at) => wrapText(`${at + 1}. ${step}`, "   ")).join("\n")
    case "link":
      return `${piece.label}:\n${piece.url}`
    case "code":
      return `    ${piece.code}`
    case "footer":
      return `-- \n${wrapText(piece.text, "")}${piece.url === null ? "" : `\n${piece.url}`}`
  }
}

/** Breaks at spaces; every line but the first is indented by `indent`. */
function wrapText(text: string, indent: string): string {
  const lines: string[] = []
  let line = ""
  for (const word of text.split(" ")) {
    if (line.trim() !== "" && line.length + 1 + word.length > LINE_LENGTH_MAX) {
      lines.push(line)
      line = `${indent}${word}`
    } else line = line === "" ? word : `${line} ${word}`
  }
  return [...lines, line].join("\n")
}
