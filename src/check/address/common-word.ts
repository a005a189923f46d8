import WORDS from "../../../data/common-words.txt" with { type: "text" }

/** Endings that leave a word a word; the list holds base forms only. */
const ENDINGS = ["s", "ly", "es", "ed", "ing", "er", "ers", "est", "y"]

/** The base forms; made when the first label is asked about (2 ms, about 1 MB). */
let bases: ReadonlySet<string> | null = null

/** Whether a label is a common English word, or one with a common ending. */
export function isCommonWord(label: string): boolean {
  return (
    isBase(label) || ENDINGS.some(ending => label.endsWith(ending) && isStem(label.slice(0, -ending.length), ending))
  )
}

/**
 * Whether a word remains before an ending; a vowel may have taken the word's last `e` or `y`, or doubled its last
 * letter.
 */
function isStem(stem: string, ending: string): boolean {
  if (isBase(stem)) return true
  if (ending === "s" || ending === "ly") return false
  if (stem.endsWith("i")) return isBase(`${stem.slice(0, -1)}y`)
  return isBase(`${stem}e`) || (stem.at(-1) === stem.at(-2) && isBase(stem.slice(0, -1)))
}

function isBase(word: string): boolean {
  bases ??= new Set(WORDS.split("\n").filter(line => !line.startsWith("#")))
  return word.length >= 3 && bases.has(word)
}
