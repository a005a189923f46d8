import type { Bill, Component } from "./bill-schema.ts"
import { type Inventory, nameAndVersion, type ShippedPackage, type ShippedSource } from "./inventory.ts"

/** The bill of materials (CycloneDX 1.6) of an inventory. Its serial number is made of its content. */
export function billOf(inventory: Inventory): Bill {
  const { packages, sources, runtime } = inventory
  const program = programOf(inventory)
  const platform = runtimeOf(inventory)
  const pack = listsOf(inventory)
  const content = {
    version: 1,
    metadata: { lifecycles: [{ phase: "build" }], component: program },
    components: [platform, ...packages.map(libraryOf), pack, ...sources.map(sourceOf)],
    dependencies: [
      { ref: program["bom-ref"], dependsOn: [platform["bom-ref"], pack["bom-ref"], ...codeRoots(inventory)] },
      { ref: platform["bom-ref"], dependsOn: [] },
      ...packages.map(shipped => ({ ref: purlOf(shipped), dependsOn: shipped.needs.map(purlNamed) })),
      { ref: pack["bom-ref"], dependsOn: sources.map(refOf) },
      ...sources.map(source => ({
        ref: refOf(source),
        dependsOn: source.package === "" ? [] : [purlNamed(source.package)],
      })),
    ],
  } satisfies Partial<Bill>
  return {
    $schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    serialNumber: serialOf(`${runtime.version}\n${JSON.stringify(content)}`),
    ...content,
  }
}

/** The text of a bill: the same bill gives the same text. */
export const billText = (bill: Bill): string => `${JSON.stringify(bill, null, 2)}\n`

function programOf({ name, version, licence, says }: Inventory): Component {
  return {
    ...{ type: "application", "bom-ref": `pkg:generic/${name}@${version}`, name, version, description: says },
    ...{ purl: `pkg:generic/${name}@${version}`, licenses: licencesOf(licence) },
  }
}

function runtimeOf({ runtime: { name, version, licence, origin } }: Inventory): Component {
  const purl = `pkg:github/oven-sh/bun@bun-v${version}`
  return {
    ...{ type: "platform", "bom-ref": purl, name, version, purl, licenses: licencesOf(licence) },
    externalReferences: [{ type: "vcs", url: origin }],
  }
}

const codeRoots = ({ packages, roots }: Inventory): readonly string[] & string[] =>
  packages.filter(shipped => shipped.use !== "lists" && roots.includes(nameAndVersion(shipped))).map(purlOf)

function libraryOf(shipped: ShippedPackage): Component {
  const { name, version, licence, origin, sha512 } = shipped
  const [bare = "", scope] = name.split("/").reverse()
  return {
    ...{
      type: "library",
      "bom-ref": purlOf(shipped),
      ...(scope === undefined ? {} : { group: scope }),
      name: bare,
      version,
    },
    ...{ purl: purlOf(shipped), hashes: [{ alg: "SHA-512", content: sha512 }], licenses: licencesOf(licence) },
    ...(origin === "" ? {} : { externalReferences: [{ type: "vcs", url: origin }] }),
  }
}

/** The packed lists as the executable carries them. */
function listsOf({ lists: { version, sha256 } }: Inventory): Component {
  return {
    ...{ type: "data", "bom-ref": "lists.pack", name: "lists.pack", version, description: "The packed lists." },
    ...{ hashes: [{ alg: "SHA-256", content: sha256 }], data: [{ type: "dataset", name: "lists.pack" }] },
  }
}

function sourceOf(source: ShippedSource): Component {
  const { id, says, licence, origin, version, sha256 } = source
  const url = /https?:\/\/[^\s,]+/.exec(origin)?.[0]
  return {
    ...{ type: "data", "bom-ref": refOf(source), name: id, ...(version === "" ? {} : { version }), description: says },
    ...(sha256 === "" ? {} : { hashes: [{ alg: "SHA-256", content: sha256 }] }),
    ...{ licenses: licencesOf(licence) },
    ...(url === undefined ? {} : { externalReferences: [{ type: "website", url }] }),
    data: [{ type: "dataset", name: id }],
  }
}

const refOf = ({ id }: ShippedSource): string => `source:${id}`

/** What stands alone is an identifier of SPDX's list, unless it is one of our own. */
const licencesOf = (expression: string): NonNullable<Component["licenses"]> =>
  /^(?!LicenseRef-)[A-Za-z0-9.+-]+$/.test(expression) ? [{ license: { id: expression } }] : [{ expression }]

/** A package URL (ECMA-427): the scope is a namespace, and its `@` is written out. */
const purlOf = ({ name, version }: { readonly name: string; readonly version: string }): string =>
  `pkg:npm/${name.replace("@", "%40")}@${version}`

function purlNamed(named: string): string {
  const at = named.lastIndexOf("@")
  return purlOf({ name: named.slice(0, at), version: named.slice(at + 1) })
}

/** A UUID of version 8 (RFC 9562 §5.8) out of the content's SHA-256. */
function serialOf(content: string): string {
  const hex = new Bun.CryptoHasher("sha256").update(content).digest("hex")
  const variant = (8 + (Number.parseInt(hex.charAt(16), 16) & 3)).toString(16)
  const parts = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ]
  return `urn:uuid:${parts.join("-")}`
}
