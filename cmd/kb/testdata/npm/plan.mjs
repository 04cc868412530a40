// Lists and calls every tool of `kb mcp` with the official client, and compares
// each answer with what the command prints. The tools must leave a model room.
//
//   node plan.mjs [--v2] KB PLAN.json [URL TOKEN]    in the vault's directory
//
// With --v2 the client is that of the SDK's second version. With a URL it asks the server there instead of one on standard
// input. PLAN.json holds [{tool, args, command}], where command is the command line of the same call.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { isDeepStrictEqual, parseArgs } from 'node:util';
import { encode } from 'gpt-tokenizer/encoding/o200k_base';

const { values: { v2 }, positionals: [kb, planFile, url, token] } = parseArgs({ options: { v2: { type: 'boolean' } }, allowPositionals: true });
const modules = v2
  ? ['client', 'client/stdio']
  : ['sdk/client/index.js', 'sdk/client/stdio.js', 'sdk/client/streamableHttp.js'];
const loaded = await Promise.all(modules.map((name) => import(`@modelcontextprotocol/${name}`)));
const { Client, StdioClientTransport, StreamableHTTPClientTransport } = Object.assign({}, ...loaded);
const plan = JSON.parse(readFileSync(planFile, 'utf8'));
const varying = ['seconds', 'disk_bytes', 'unchanged', 'added', 'repeated', 'state', 'similar', 'similar_mode', 'similar_degraded'];
const faults = [];

const client = new Client({ name: 'kb-client-test', version: '1.0.0' });
const transport = url
  ? new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { Authorization: `Bearer ${token}` } } })
  : new StdioClientTransport({ command: kb, args: ['mcp'], env: process.env, stderr: 'inherit' });
await client.connect(transport);
if (!client.getInstructions()?.includes('kb_digest')) faults.push('no instructions');

const { tools } = await client.listTools(); // the client compiles every output schema
// What a host puts before its model of 18 tools: all of it, and without output schemas.
const whole = encode(JSON.stringify(tools)).length;
const input = encode(JSON.stringify(tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema })))).length;
if (tools.length > 18 || whole >= 6000 || input >= 4000) {
  faults.push(`${tools.length} tools take ${whole} tokens, ${input} of them names, descriptions and input; 18 may take 6000 and 4000`);
}
for (const { name } of tools) {
  if (!plan.some((step) => step.tool === name)) faults.push(`${name}: no call in the plan`);
}
for (const { tool, args, command } of plan) {
  const answer = await client.callTool({ name: tool, arguments: args }); // checked against the schema
  const printed = JSON.parse(execFileSync(kb, command, { encoding: 'utf8' }));
  const got = { ...answer.structuredContent };
  for (const key of varying) {
    delete got[key];
    delete printed[key];
  }
  if (answer.isError || !isDeepStrictEqual(got, printed)) {
    faults.push(`${tool} ${JSON.stringify(args)}\n  tool    ${JSON.stringify(answer)}\n  command ${JSON.stringify(printed)}`);
  }
}

const refused = await client.callTool({ name: 'search', arguments: { query: 'x', colection: 'y' } });
if (!refused.isError || refused.structuredContent || !refused.content[0].text.includes('did you mean collection?')) {
  faults.push(`an unknown argument: ${JSON.stringify(refused)}`);
}
const { resourceTemplates } = await client.listResourceTemplates();
if (!resourceTemplates.some((t) => t.uriTemplate === 'kb://{collection}@{commit}/{+path}')) faults.push('no template for citations');
const hit = (await client.callTool({ name: 'search', arguments: plan[0].args })).structuredContent.results[0];
const { contents } = await client.readResource({ uri: hit.uri });
if (!contents[0].text) faults.push(`${hit.uri}: empty`);

await client.close();
console.log(`${tools.length} tools in ${whole} tokens (input ${input}), ${plan.length} calls, ${faults.length} faults`);
for (const fault of faults) console.error(fault);
process.exit(faults.length ? 1 : 0);
