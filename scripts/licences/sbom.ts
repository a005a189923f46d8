import { type Inventory, packageId, type ShippedPackage, type ShippedSource } from "../../src/licences/inventory.ts"

/** The software bill of materials (CycloneDX 1.6) of an inventory. Its serial number is derived from its content. */
export function createSbom(inventory: Inventory) {
  const { packages, sources, runtime } = inventory
  const program = programComponent(inventory)
  const platform = runtimeComponent(inventory)
  const pack = listsComponent(inventory)
  const content = {
    version: 1,
    metadata: { lifecycles: [{ phase: "build" }], component: program },
    components: [platform, ...packages.map(packageComponent), pack, ...sources.map(sourceComponent)],
    dependencies: [
      { ref: program["bom-ref"], dependsOn: [platform["bom-ref"], pack["bom-ref"], ...rootPackageUrls(inventory)] },
      { ref: platform["bom-ref"], dependsOn: [] },
      ...packages.map(shipped => ({ ref: packageUrl(shipped), dependsOn: shipped.needs.map(parsePackageUrl) })),
      { ref: pack["bom-ref"], dependsOn: sources.map(sourceRef) },
      ...sources.map(source => ({
        ref: sourceRef(source),
        dependsOn: source.package === "" ? [] : [parsePackageUrl(source.package)],
      })),
    ],
  }
  return {
    $schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    serialNumber: serialNumber(`${runtime.version}\n${JSON.stringify(content)}`),
    ...content,
  }
}

/** The text of an SBOM. Equal SBOMs give equal texts, since it has no timestamp. */
export const sbomText = (bill: ReturnType<typeof createSbom>): string => `${JSON.stringify(bill, null, 2)}\n`

function programComponent({ name, version, licence, says }: Inventory): SbomComponent {
  return {
    ...{ type: "application", "bom-ref": `pkg:generic/${name}@${version}`, name, version, description: says },
    ...{ purl: `pkg:generic/${name}@${version}`, licenses: sbomLicences(licence) },
  }
}

function runtimeComponent({ runtime: { name, version, licence, origin } }: Inventory): SbomComponent {
  const purl = `pkg:github/oven-sh/bun@bun-v${version}`
  return {
    ...{ type: "platform", "bom-ref": purl, name, version, purl, licenses: sbomLicences(licence) },
    externalReferences: [{ type: "vcs", url: origin }],
  }
}

const rootPackageUrls = ({ packages, roots }: Inventory): readonly string[] =>
  packages.filter(shipped => shipped.use !== "lists" && roots.includes(packageId(shipped))).map(packageUrl)

function packageComponent(shipped: ShippedPackage): SbomComponent {
  const { name, version, licence, origin, sha512 } = shipped
  const [bare = "", scope] = name.split("/").reverse()
  return {
    ...{
      type: "library",
      "bom-ref": packageUrl(shipped),
      ...(scope === undefined ? {} : { group: scope }),
      name: bare,
      version,
    },
    ...{ purl: packageUrl(shipped), hashes: [{ alg: "SHA-512", content: sha512 }], licenses: sbomLicences(licence) },
    ...(origin === "" ? {} : { externalReferences: [{ type: "vcs", url: origin }] }),
  }
}

/** The packed lists in the executable. */
function listsComponent({ lists: { version, sha256 } }: Inventory): SbomComponent {
  return {
    ...{ type: "data", "bom-ref": "lists.pack", name: "lists.pack", version, description: "The packed lists." },
    ...{ hashes: [{ alg: "SHA-256", content: sha256 }], data: [{ type: "dataset", name: "lists.pack" }] },
  }
}

function sourceComponent(source: ShippedSource): SbomComponent {
  const { id, says, licence, origin, version, sha256 } = source
  const url = /https?:\/\/[^\s,]+/.exec(origin)?.[0]
  return {
    ...{
      type: "data",
      "bom-ref": sourceRef(source),
      name: id,
      ...(version === "" ? {} : { version }),
      description: says,
    },
    ...(sha256 === "" ? {} : { hashes: [{ alg: "SHA-256", content: sha256 }] }),
    ...{ licenses: sbomLicences(licence) },
    ...(url === undefined ? {} : { externalReferences: [{ type: "website", url }] }),
    data: [{ type: "dataset", name: id }],
  }
}

const sourceRef = ({ id }: ShippedSource): string => `source:${id}`

/** A single licence is an SPDX identifier unless it is our own; everything else is an expression. */
const sbomLicences = (expression: string): NonNullable<SbomComponent["licenses"]> =>
  /^(?!LicenseRef-)[A-Za-z0-9.+-]+$/.test(expression) ? [{ license: { id: expression } }] : [{ expression }]

/** A package URL (ECMA-427). The `@` of a scope is percent-encoded. */
const packageUrl = ({ name, version }: { readonly name: string; readonly version: string }): string =>
  `pkg:npm/${name.replace("@", "%40")}@${version}`

function parsePackageUrl(named: string): string {
  const at = named.lastIndexOf("@")
  return packageUrl({ name: named.slice(0, at), version: named.slice(at + 1) })
}

/** A version 8 UUID (RFC 9562 §5.8) from the SHA-256 of the content. */
function serialNumber(content: string): string {
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

/** A component of the bill. */
type SbomComponent = {
  readonly type: "application" | "library" | "platform" | "data"
  readonly "bom-ref": string
  readonly group?: string
  readonly name: string
  readonly version?: string
  readonly description?: string
  readonly purl?: string
  readonly hashes?: readonly { readonly alg: "SHA-256" | "SHA-512"; readonly content: string }[]
  readonly licenses?: readonly ({ readonly license: { readonly id: string } } | { readonly expression: string })[]
  readonly externalReferences?: readonly { readonly type: "vcs" | "website"; readonly url: string }[]
  /** Only for components of type `data`. */
  readonly data?: readonly { readonly type: "dataset"; readonly name: string }[]
}
