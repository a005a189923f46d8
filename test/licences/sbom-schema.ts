import { Type } from "@sinclair/typebox"

/*
 * The part of the CycloneDX 1.6 schema (ECMA-424, bom-1.6.schema.json) that we write, at least as strict as the original.
 */
const closed = { additionalProperties: false }
const text = Type.String({ minLength: 1 })

/** One licence by its SPDX identifier, or one expression. */
const Licences = Type.Union([
  Type.Array(Type.Object({ license: Type.Object({ id: text }, closed) }, closed), { minItems: 1, maxItems: 1 }),
  Type.Array(Type.Object({ expression: text }, closed), { minItems: 1, maxItems: 1 }),
])

const Hashes = Type.Array(
  Type.Union([
    Type.Object({ alg: Type.Literal("SHA-256"), content: Type.String({ pattern: "^[0-9a-f]{64}$" }) }, closed),
    Type.Object({ alg: Type.Literal("SHA-512"), content: Type.String({ pattern: "^[0-9a-f]{128}$" }) }, closed),
  ]),
  { minItems: 1 },
)

const ExternalReference = Type.Object(
  {
    type: Type.Union([Type.Literal("vcs"), Type.Literal("website")]),
    url: Type.String({ pattern: "^https?://\\S+$" }),
  },
  closed,
)

const SbomComponent = Type.Object(
  {
    type: Type.Union(["application", "library", "platform", "data"].map(type => Type.Literal(type))),
    "bom-ref": text,
    group: Type.Optional(text),
    name: text,
    version: Type.Optional(text),
    description: Type.Optional(text),
    purl: Type.Optional(Type.String({ pattern: "^pkg:[a-z]+/\\S+@\\S+$" })),
    hashes: Type.Optional(Hashes),
    licenses: Type.Optional(Licences),
    externalReferences: Type.Optional(Type.Array(ExternalReference, { minItems: 1, uniqueItems: true })),
    /** Only for components of type `data`. */
    data: Type.Optional(
      Type.Array(Type.Object({ type: Type.Literal("dataset"), name: text }, closed), { minItems: 1 }),
    ),
  },
  closed,
)

const SbomDependency = Type.Object({ ref: text, dependsOn: Type.Array(text, { uniqueItems: true }) }, closed)

/** An SBOM without a timestamp, so that equal content gives an equal SBOM. */
export const Sbom = Type.Object(
  {
    $schema: Type.Literal("http://cyclonedx.org/schema/bom-1.6.schema.json"),
    bomFormat: Type.Literal("CycloneDX"),
    specVersion: Type.Literal("1.6"),
    serialNumber: Type.String({ pattern: "^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$" }),
    version: Type.Integer({ minimum: 1 }),
    metadata: Type.Object(
      { lifecycles: Type.Array(Type.Object({ phase: Type.Literal("build") }, closed)), component: SbomComponent },
      closed,
    ),
    components: Type.Array(SbomComponent, { uniqueItems: true }),
    dependencies: Type.Array(SbomDependency, { uniqueItems: true }),
  },
  closed,
)
