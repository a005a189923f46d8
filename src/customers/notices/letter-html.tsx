/** @jsxImportSource preact */
import { render } from "preact-render-to-string"
import type { Letter, Piece } from "./letter.ts"

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
export function letterHtml(letter: Letter): string {
  return `<!doctype html>\n${render(<LetterPage {...letter} />)}\n`
}

function LetterPage({ subject, pieces }: Letter) {
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
          {pieces.map((piece, at) => (
            <PieceShown key={at.toString()} piece={piece} />
          ))}
        </div>
      </body>
    </html>
  )
}

function PieceShown({ piece }: { readonly piece: Piece }) {
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

function Facts({ facts }: { readonly facts: Extract<Piece, { kind: "facts" }>["facts"] }) {
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
