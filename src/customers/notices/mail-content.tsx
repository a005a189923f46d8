import { render } from "preact-render-to-string"

/** @jsxImportSource preact */
/** Programs that show mail know inline styles and little else. */
const STYLES = {
  body: "margin:0;padding:24px 12px;font:16px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,sans-serif",
  letter: "max-width:560px;margin:0 auto",
  heading: "font-size:20px;line-height:1.3;margin:0 0 16px",
  name: "text-align:left;vertical-align:top;font-weight:600;padding:2px 16px 2px 0;white-space:nowrap",
  value: "padding:2px 0;overflow-wrap:anywhere",
  button:
    "display:inline-block;padding:10px 18px;border-radius:6px;background:#1f4fd8;color:#ffffff;text-decoration:none",
  url: "font-size:13px;overflow-wrap:anywhere",
  code: "font:600 28px/1.4 ui-monospace,Menlo,Consolas,monospace;letter-spacing:4px;margin:16px 0",
} as const

/** The letter as a whole HTML document, which loads nothing from anywhere. */
export function renderMailHtml(letter: MailContent): string {
  return `<!doctype html>\n${render(<MailPage {...letter} />)}\n`
}

function MailPage({ subject, blocks }: MailContent) {
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>{subject}</title>
      </head>
      <body style={STYLES.body}>
        <div style={STYLES.letter}>
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
      return <FactsTable facts={piece.facts} />
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
          <a href={piece.url} style={STYLES.button}>
            {piece.label}
          </a>
          <br />
          <span style={STYLES.url}>{piece.url}</span>
        </p>
      )
    case "code":
      return <p style={STYLES.code}>{piece.code}</p>
  }
}

function FactsTable({ facts }: { readonly facts: Extract<MailBlock, { kind: "facts" }>["facts"] }) {
  return (
    <table role="presentation">
      <tbody>
        {facts.map(([name, value]) => (
          <tr key={name}>
            <td style={STYLES.name}>{name}</td>
            <td style={STYLES.value}>{value}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** One piece of a letter, in words that text and HTML both show. */
export type MailBlock =
  | { readonly kind: "prose"; readonly text: string }
  /** What is known, name by value. */
  | { readonly kind: "facts"; readonly facts: readonly (readonly [name: string, value: string])[] }
  /** What to do, in this order. */
  | { readonly kind: "steps"; readonly steps: readonly string[] }
  | { readonly kind: "link"; readonly label: string; readonly url: string }
  /** A code to type somewhere. */
  | { readonly kind: "code"; readonly code: string }

/** What we write to somebody. The subject holds nothing that somebody else chose. */
export type MailContent = { readonly subject: string; readonly blocks: readonly MailBlock[] }

/** How long a line of text is, unless one word is longer (RFC 5322 §2.1.1 asks for at most 78). */
const LINE_LENGTH_MAX = 76

/** The letter as plain text, with line ends after every line. */
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
