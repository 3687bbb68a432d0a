// A request as code, to be copied into a program. The token comes from a
// variable, and a password is left out: a sample can be shown to others.

const text = (s) => JSON.stringify(s);
const shell = (s) => `'${s.replaceAll("'", "'\\''")}'`;
const php = (s) => `'${s.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
// Bodies of several lines, as they are where the language can write them so.
const pythonText = (s) => s.includes("\n") && !/\\|"""/.test(s) ? `"""${s}"""` : text(s);
const goText = (s) => s.includes("\n") && !s.includes("`") ? "`" + s + "`" : text(s);
const csharpText = (s) => s.includes("\n") && !s.includes('"""') ? `"""\n${s}\n"""` : text(s);
const indent = (s, by) => s.replaceAll("\n", `\n${by}`);

/** The headers beside the token. */
const others = (r) => [...r.headers, ...(r.body === undefined ? [] : [["Content-Type", "application/json"]])];

function curl(r) {
  const how = r.method === "GET" || (r.method === "POST" && r.body !== undefined) ? "" : ` -X ${r.method}`;
  return [`curl -s${how} ${shell(r.url)}`, r.token && `-H "token: $TOKEN"`, ...others(r).map(([n, v]) => `-H ${shell(`${n}: ${v}`)}`), r.body !== undefined && `-d ${shell(r.body)}`]
    .filter(Boolean).join(" \\\n  ");
}

function javascript(r) {
  const headers = [r.token && "token: process.env.TOKEN", ...others(r).map(([n, v]) => `${text(n)}: ${text(v)}`)].filter(Boolean);
  let body = null;
  if (r.body !== undefined) {
    try {
      body = `JSON.stringify(${indent(JSON.stringify(JSON.parse(r.body), null, 2), "  ")})`;
    } catch {
      body = text(r.body);
    }
  }
  return `const answer = await fetch(${text(r.url)}, {
  method: ${text(r.method)},
  headers: { ${headers.join(", ")} },${body === null ? "" : `\n  body: ${body},`}
});
console.log(answer.status, await answer.text());`;
}

function python(r) {
  const headers = [r.token && `"token": os.environ["TOKEN"]`, ...others(r).map(([n, v]) => `${text(n)}: ${text(v)}`)].filter(Boolean);
  return `import os
import urllib.error
import urllib.request

request = urllib.request.Request(
    ${text(r.url)},
    method=${text(r.method)},
    headers={${headers.join(", ")}},${r.body === undefined ? "" : `\n    data=${pythonText(r.body)}.encode(),`}
)
try:
    answer = urllib.request.urlopen(request)
except urllib.error.HTTPError as refusal:
    answer = refusal
print(answer.status, answer.read().decode())`;
}

function phpCode(r) {
  const headers = [r.token && "'token: ' . getenv('TOKEN')", ...others(r).map(([n, v]) => php(`${n}: ${v}`))].filter(Boolean);
  return `<?php
$request = stream_context_create(['http' => [
    'method' => ${php(r.method)},
    'header' => [${headers.join(", ")}],${r.body === undefined ? "" : `\n    'content' => ${php(r.body)},`}
    'ignore_errors' => true, // a refusal has a body, too
]]);
$answer = file_get_contents(${php(r.url)}, false, $request);
echo $http_response_header[0], "\\n", $answer, "\\n";`;
}

function go(r) {
  const headers = [r.token && `request.Header.Set("token", os.Getenv("TOKEN"))`, ...others(r).map(([n, v]) => `request.Header.Set(${text(n)}, ${text(v)})`)].filter(Boolean);
  const imports = ["fmt", "io", "log", "net/http", r.token && "os", r.body !== undefined && "strings"].filter(Boolean);
  return `package main

import (
${imports.map((i) => `\t"${i}"`).join("\n")}
)

func main() {
	request, err := http.NewRequest(${text(r.method)}, ${text(r.url)}, ${r.body === undefined ? "nil" : `strings.NewReader(${goText(r.body)})`})
	if err != nil {
		log.Fatal(err)
	}
${headers.map((h) => `\t${h}\n`).join("")}	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(answer.Status, string(body))
}`;
}

function csharp(r) {
  const method = r.method[0] + r.method.slice(1).toLowerCase();
  return `using var client = new HttpClient();
using var request = new HttpRequestMessage(HttpMethod.${method}, ${text(r.url)});
${[r.token && `request.Headers.Add("token", Environment.GetEnvironmentVariable("TOKEN"));`,
    ...r.headers.map(([n, v]) => `request.Headers.TryAddWithoutValidation(${text(n)}, ${text(v)});`),
    r.body !== undefined && `request.Content = new StringContent(${csharpText(r.body)}, System.Text.Encoding.UTF8, "application/json");`].filter(Boolean).map((l) => `${l}\n`).join("")}using var answer = await client.SendAsync(request);
Console.WriteLine($"{(int)answer.StatusCode} {await answer.Content.ReadAsStringAsync()}");`;
}

/** The languages, and how each writes a request: {method, url, token (is one sent?), headers, body}. */
export const languages = [
  ["curl", curl], ["JavaScript", javascript], ["PHP", phpCode], ["Python", python], ["Go", go], ["C#", csharp],
];
