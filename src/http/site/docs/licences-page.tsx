/** @jsxImportSource preact */
import type { Inventory, PackageUse } from "../../../licences/inventory.ts"
import { packageId } from "../../../licences/inventory.ts"
import { LICENCES } from "../../../licences/licence-policy.ts"
import { queryParameters } from "../../request/request-url.ts"
import { CodeBlock, Table } from "../ui/layout.tsx"
import { GuidePage } from "./guide-page.tsx"

/** What one part is called, where it comes from (null: from here), and its licences and notices, whole. */
export type ShownTexts = { readonly what: string; readonly from: string | null; readonly texts: readonly string[] }

type Props = {
  readonly inventory: Inventory
  /** The part whose texts are asked for; null: none is. */
  readonly part: ShownTexts | null
}

/** The texts of the part that a URL asks for by `?part=`; null: it asks for none, or for one that is not there. */
export function partAsked(url: string, inventory: Inventory): ShownTexts | null {
  const wanted = queryParameters(url).get("part")
  const found = partsOf(inventory).find(({ what }) => what === wanted)
  if (found === undefined) return null
  return { what: found.what, from: found.from, texts: found.at.map(at => inventory.allTexts[at] ?? "") }
}

type Part = {
  readonly what: string
  /** Where it comes from; null: from here. */
  readonly from: string | null
  readonly at: readonly number[]
}

const partsOf = (inventory: Inventory): readonly Part[] => [
  { what: packageId(inventory), from: null, at: inventory.texts },
  ...[inventory.runtime, ...inventory.packages].map(each => ({
    what: packageId(each),
    from: each.origin,
    at: each.texts,
  })),
  ...inventory.sources.map(each => ({ what: each.id, from: each.origin, at: each.texts })),
]

const USES: { readonly [U in PackageUse]: string } = {
  server: "The server",
  pages: "The script of the API reference",
  lists: "Packages that lists were read from",
}

const USE_NAMES = Object.keys(USES) as PackageUse[] // the keys of a table are its type's

/** Every package, source and licence of this program, and the texts of the one that is asked for. */
export function LicencesPage({ inventory, part }: Props) {
  const { runtime, licence, packages, sources } = inventory
  return (
    <GuidePage route="docsLicences">
      <p class="lead">mailkind is under {licence}. It stands on the work of others, which is named here.</p>
      {part === null ? null : <Texts part={part} />}
      <p>
        Each name below leads to its origin and its licence. <code>mailkind licences --texts</code> prints every licence
        whole, and <code>mailkind sbom</code> the bill of materials (CycloneDX). A licence that is not in the table
        below stops the build.
      </p>
      <h2 id="allowed">Licences</h2>
      <Table caption="Licences" columns={["Licence", "Asks"]}>
        {Object.entries(LICENCES).map(([id, row]) => (
          <tr key={id}>
            <th scope="row">
              <code>{id}</code>
            </th>
            <td>
              {row.requires} {"runtimeOnly" in row ? "Allowed for the runtime alone." : ""}
            </td>
          </tr>
        ))}
      </Table>
      <h2 id="runtime">Runtime</h2>
      <PartTable caption="Runtime" rows={[{ what: packageId(runtime), licence: runtime.licence }]} />
      {USE_NAMES.map(use => (
        <section key={use}>
          <h2 id={`use-${use}`}>{USES[use]}</h2>
          <PartTable
            caption={USES[use]}
            rows={packages
              .filter(each => each.use === use)
              .map(each => ({ what: packageId(each), licence: each.licence }))}
          />
        </section>
      ))}
      <h2 id="sources">Sources of the lists and extracts</h2>
      <PartTable
        caption="Sources of the lists and extracts"
        rows={sources.map(({ id, licence: own }) => ({ what: id, licence: own }))}
      />
    </GuidePage>
  )
}

function Texts({ part: { what, from, texts } }: { readonly part: ShownTexts }) {
  return (
    <section aria-labelledby="texts">
      <h2 id="texts">{what}</h2>
      {from === null ? null : <p>From {from}</p>}
      {texts.length === 0 ? <p>It is downloaded by a refresh; its text lies at its origin.</p> : null}
      {texts.map((text, at) => (
        <CodeBlock key={at} caption={at === 0 ? "Licence" : "Licence or notice"} code={text} />
      ))}
    </section>
  )
}

type Row = { readonly what: string; readonly licence: string }

function PartTable({ caption, rows }: { readonly caption: string; readonly rows: readonly Row[] }) {
  return (
    <Table caption={caption} columns={["Part", "Licence"]}>
      {rows.map(({ what, licence }) => (
        <tr key={what}>
          <th scope="row">
            <a href={`?${new URLSearchParams({ part: what })}`}>
              <code>{what}</code>
            </a>
          </th>
          <td>{licence}</td>
        </tr>
      ))}
    </Table>
  )
}
