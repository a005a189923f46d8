/** @jsxImportSource preact */
import { type Inventory, LICENCES, type PackageUse, packageId } from "../../../../licences/inventory.ts"
import { queryParameters } from "../../../request/request-url.ts"
import { CodeBlock } from "../../ui/layout.tsx"
import { type BlockInsert, factOf, type Insert, type LicensedPart } from "./insert.ts"
import { codeSpan, escapeMarkdown, linkTo, markdownTable } from "./markdown-text.ts"

/** The part that a URL names by `?part=`; null: it names none, or one that does not exist. */
export function licensedPart(url: string, inventory: Inventory): LicensedPart | null {
  const wanted = queryParameters(url).get("part")
  const { runtime, packages, sources, allTexts } = inventory
  const parts = [
    { name: packageId(inventory), origin: null, texts: inventory.texts },
    ...[runtime, ...packages].map(part => ({ ...part, name: packageId(part) })),
    ...sources.map(source => ({ ...source, name: source.id })),
  ]
  const found = parts.find(({ name }) => name === wanted)
  if (found === undefined) return null
  return { name: found.name, origin: found.origin, texts: found.texts.map(index => allTexts[index] ?? "") }
}

/** Tables of the packages, sources and licences of the program. */
export const LICENCE_INSERTS = {
  "own-licence": facts => factOf(facts.inventory).licence,
  "allowed-licences": () =>
    markdownTable(
      ["Licence", "Requires"],
      Object.entries(LICENCES).map(([id, licence]) => [
        codeSpan(id),
        `${licence.requires}${"runtimeOnly" in licence ? " Allowed for the runtime alone." : ""}`,
      ]),
    ),
  "runtime-licence": facts => {
    const { runtime } = factOf(facts.inventory)
    return partTable([{ name: packageId(runtime), licence: runtime.licence }])
  },
  /** `{{package-licences server}}`: those of one use. */
  "package-licences": (facts, use) =>
    partTable(
      factOf(facts.inventory)
        .packages.filter(own => own.use === (use as PackageUse)) // a use that does not exist has no package
        .map(own => ({ name: packageId(own), licence: own.licence })),
    ),
  "source-licences": facts =>
    partTable(factOf(facts.inventory).sources.map(({ id, licence }) => ({ name: id, licence }))),
} as const satisfies Readonly<Record<string, Insert>>

const partTable = (parts: readonly { readonly name: string; readonly licence: string }[]): string =>
  markdownTable(
    ["Part", "Licence"],
    parts.map(({ name, licence }) => [
      linkTo(codeSpan(name), `?${new URLSearchParams({ part: name })}`),
      escapeMarkdown(licence),
    ]),
  )

/** The licence texts of the part that the URL names. */
export const LICENCE_TEXT_INSERTS = {
  "licence-texts": ({ licensedPart: part }) => ({
    markdown: "",
    html: part === null ? null : <LicenceTexts part={part} />,
  }),
} as const satisfies Readonly<Record<string, BlockInsert>>

function LicenceTexts({ part: { name, origin, texts } }: { readonly part: LicensedPart }) {
  return (
    <section aria-labelledby="texts">
      <h2 id="texts">{name}</h2>
      {origin === null ? null : <p>From {origin}</p>}
      {texts.length === 0 ? <p>A refresh downloads it. Its licence text is at its origin.</p> : null}
      {texts.map((text, index) => (
        <CodeBlock key={index} caption={index === 0 ? "Licence" : "Licence or notice"} code={text} />
      ))}
    </section>
  )
}
