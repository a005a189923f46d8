/** @jsxImportSource preact */
import type { ProblemCode } from "../../contract/problems.ts"

/** Codes in a row, each with a link to its paragraph on the page of errors, where they stand. */
export function CodeLinks({ codes }: { readonly codes: readonly ProblemCode[] }) {
  return (
    <>
      {codes.map((code, at) => (
        <span key={code}>
          {at > 0 ? ", " : ""}
          <a href={`#${code}`}>
            <code>{code}</code>
          </a>
        </span>
      ))}
    </>
  )
}
