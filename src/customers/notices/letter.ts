/** One piece of a letter, in words that text and HTML both show. */
export type Piece =
  | { readonly kind: "prose"; readonly text: string }
  /** What is known, name by value. */
  | { readonly kind: "facts"; readonly facts: readonly (readonly [name: string, value: string])[] }
  /** What to do, in this order. */
  | { readonly kind: "steps"; readonly steps: readonly string[] }
  | { readonly kind: "link"; readonly label: string; readonly url: string }
  /** A code to type somewhere. */
  | { readonly kind: "code"; readonly code: string }

/** What we write to somebody. The subject holds nothing that somebody else chose. */
export type Letter = { readonly subject: string; readonly pieces: readonly Piece[] }

/** How long a line of text is, unless one word is longer (RFC 5322 §2.1.1 asks for at most 78). */
const LINE_LENGTH_MAX = 76

/** The letter as plain text, with line ends after every line. */
export function letterText({ pieces }: Letter): string {
  return `${pieces.map(pieceText).join("\n\n")}\n`
}

function pieceText(piece: Piece): string {
  switch (piece.kind) {
    case "prose":
      return wrapped(piece.text, "")
    case "facts":
      return piece.facts.map(([name, value]) => wrapped(`${name}: ${value}`, "  ")).join("\n")
    case "steps":
      return piece.steps.map((step, at) => wrapped(`${at + 1}. ${step}`, "   ")).join("\n")
    case "link":
      return `${piece.label}:\n${piece.url}`
    case "code":
      return `    ${piece.code}`
  }
}

/** Breaks at spaces; every line but the first is indented by `indent`. */
function wrapped(text: string, indent: string): string {
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
