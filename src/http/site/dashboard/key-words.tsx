/** @jsxImportSource preact */
import type { Key, Revoker } from "../../../customers/keys/keys.ts"

/** Who revoked a key, to its owner. */
export const REVOKER_WORDS: { readonly [R in Revoker]: string } = {
  owner: "you",
  admin: "an administrator",
  leak: "us, since it was found in public",
}

/** How a key is told from others once its text is shown no more: by its last characters. */
export function LastFour({ of: { last4 } }: { readonly of: Pick<Key, "last4"> }) {
  return (
    <code class="short">
      <span aria-hidden="true">…</span>
      {last4}
    </code>
  )
}

/** The websites that a publishable key is for. */
export function Origins({ of: { kind, origins } }: { readonly of: Pick<Key, "kind" | "origins"> }) {
  if (kind === "secret") return <>any server</>
  return (
    <ul class="plain">
      {origins.map(origin => (
        <li key={origin}>
          <code>{origin}</code>
        </li>
      ))}
    </ul>
  )
}
