import { type ExampleLanguage, KEY_VARIABLE } from "../docs/examples.ts"
import { curlRequest, type SampleBody, sampleJson } from "../ui/format.ts"

/** A request as programs of any language send it. */
export type SampleRequest = {
  readonly method: string
  readonly url: string
  readonly needsKey: boolean
  readonly body: SampleBody | null
  readonly isAnswerJson: boolean
}

/** A short program that sends the request and shows the answer. The key is in an environment variable. */
export const requestSample = (language: ExampleLanguage, request: SampleRequest): string =>
  SAMPLES[language](request, contentOf(request))

/** The body of a request in the forms that languages write: JSON, or else the name of a file. */
type SampleContent = { readonly mediaType: string; readonly json: string; readonly file: string }

function contentOf({ body }: SampleRequest): SampleContent | null {
  if (body === null) return null
  if ("file" in body) return { mediaType: body.mediaType, json: "", file: body.file }
  return { mediaType: "application/json", json: sampleJson(body.json), file: "" }
}

type Sample = (request: SampleRequest, content: SampleContent | null) => string

/** The lines that are there. */
const lines = (...all: readonly (string | false | null)[]): string =>
  all.filter(line => line !== false && line !== null).join("\n")

const curl: Sample = ({ needsKey, ...request }) =>
  curlRequest({ ...request, key: needsKey ? `$${KEY_VARIABLE}` : null })

const javascript: Sample = ({ method, url, needsKey, isAnswerJson }, content) => {
  const headers = [
    ...(needsKey ? [`Authorization: \`Bearer \${process.env.${KEY_VARIABLE}}\``] : []),
    ...(content === null ? [] : [`"Content-Type": "${content.mediaType}"`]),
  ]
  const isPlain = method === "GET" && headers.length === 0
  return lines(
    content?.file ? `import { readFile } from "node:fs/promises"\n` : null,
    `const response = await fetch("${url}"${isPlain ? ")" : ", {"}`,
    method !== "GET" && `  method: "${method}",`,
    headers.length > 0 && `  headers: { ${headers.join(", ")} },`,
    content !== null &&
      `  body: ${content.file === "" ? `JSON.stringify(${content.json})` : `await readFile("${content.file}")`},`,
    isPlain ? null : "})",
    `console.log(response.status, await response.${isAnswerJson ? "json" : "text"}())`,
  )
}

const python: Sample = ({ method, url, needsKey, isAnswerJson }, content) => {
  const headers = [
    ...(needsKey ? [`"Authorization": "Bearer " + os.environ["${KEY_VARIABLE}"]`] : []),
    ...(content === null ? [] : [`"Content-Type": "${content.mediaType}"`]),
  ]
  return lines(
    isAnswerJson && "import json",
    needsKey && "import os",
    "import urllib.request\n",
    `request = urllib.request.Request(`,
    `    "${url}",`,
    method !== "GET" && `    method="${method}",`,
    headers.length > 0 && `    headers={${headers.join(", ")}},`,
    content !== null &&
      `    data=${content.file === "" ? `b'${content.json}'` : `open("${content.file}", "rb").read()`},`,
    ")",
    "with urllib.request.urlopen(request) as response:",
    `    print(response.status, ${isAnswerJson ? "json.load(response)" : "response.read().decode()"})`,
  )
}

const php: Sample = ({ method, url, needsKey }, content) => {
  const headers = [
    ...(needsKey ? [`'Authorization: Bearer ' . getenv('${KEY_VARIABLE}')`] : []),
    ...(content === null ? [] : [`'Content-Type: ${content.mediaType}'`]),
  ]
  return lines(
    "<?php",
    "$context = stream_context_create(['http' => [",
    method !== "GET" && `    'method' => '${method}',`,
    headers.length > 0 && `    'header' => [${headers.join(", ")}],`,
    content !== null &&
      `    'content' => ${content.file === "" ? `'${content.json}'` : `file_get_contents('${content.file}')`},`,
    "    'ignore_errors' => true,",
    "]]);",
    `$answer = file_get_contents('${url}', false, $context);`,
    "echo $http_response_header[0], PHP_EOL, $answer, PHP_EOL;",
  )
}

const go: Sample = ({ method, url, needsKey }, content) => {
  const packages = ["fmt", "io", "net/http"].concat(
    needsKey || content?.file ? "os" : [],
    content?.json ? "strings" : [],
  )
  const body = content === null ? "nil" : content.file === "" ? `strings.NewReader(\`${content.json}\`)` : "file"
  const check = "\tif err != nil {\n\t\tpanic(err)\n\t}"
  return lines(
    "package main\n",
    `import (\n${packages.map(name => `\t"${name}"`).join("\n")}\n)\n`,
    "func main() {",
    content?.file ? `\tfile, err := os.Open("${content.file}")\n${check}` : null,
    `\trequest, err := http.NewRequest("${method}", "${url}", ${body})\n${check}`,
    needsKey && `\trequest.Header.Set("Authorization", "Bearer "+os.Getenv("${KEY_VARIABLE}"))`,
    content !== null && `\trequest.Header.Set("Content-Type", "${content.mediaType}")`,
    `\tresponse, err := http.DefaultClient.Do(request)\n${check}`,
    "\tdefer response.Body.Close()",
    "\tanswer, err := io.ReadAll(response.Body)",
    check,
    "\tfmt.Println(response.StatusCode, string(answer))",
    "}",
  )
}

const SAMPLES: Readonly<Record<ExampleLanguage, Sample>> = { curl, javascript, python, php, go }
