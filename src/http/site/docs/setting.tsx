/** @jsxImportSource preact */
import { ROUTES } from "../../../contract/routes.ts"

/** A setting by its name, with the way to its row. */
export const Setting = ({ name }: { readonly name: `MAILKIND_${string}` }) => (
  <a href={`${ROUTES.docsSelfHosting.path}#${name}`}>
    <code>{name}</code>
  </a>
)
