import type { Answer } from "../dns/question.ts"

/** The texts of an answer's TXT records. */
export const textsIn = ({ records }: Answer): readonly string[] =>
  records.flatMap(record => (record.type === "TXT" ? [record.text] : []))
