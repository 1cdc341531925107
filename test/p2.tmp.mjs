import { createTestRuntime } from "@perdure/core/testing";
import { storeMemory } from "@perdure/store-memory";
import { definePlugin, PERMISSION } from "@perdure/plugin-api";
import { z } from "zod";
const allow = definePlugin({ name: "allow", api: 1, version: "0", config: z.object({}), provides: [PERMISSION], setup: ({ provide }) => {
  provide(PERMISSION, { id: "all", digest: "all", decide: () => ({ decision: "allow", rule: "lookup" }) });
  return {};
} });
const pad = "x".repeat(1024);
function model(rounds) {
  const usage = { inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 }, outputTokens: { total: 1, text: 1, reasoning: 0 } };
  const decide = (prompt) => {
    let n2 = 0;
    for (let i = prompt.length - 1; i >= 0 && prompt[i].role !== "user"; i--) if (prompt[i].role === "tool") n2++;
    return n2;
  };
  return {
    specificationVersion: "v3",
    provider: "fake",
    modelId: "fake-1",
    supportedUrls: {},
    async doGenerate({ prompt }) {
      const n2 = decide(prompt);
      return n2 < rounds ? { content: [{ type: "tool-call", toolCallId: "call_0", toolName: "lookup", input: JSON.stringify({ round: n2 + 1 }) }], finishReason: { unified: "tool-calls" }, usage, warnings: [] } : { content: [{ type: "text", text: pad }], finishReason: { unified: "stop" }, usage, warnings: [] };
    },
    async doStream({ prompt }) {
      const n2 = decide(prompt);
      const parts = [{ type: "stream-start", warnings: [] }];
      if (n2 < rounds) parts.push({ type: "tool-call", toolCallId: "call_0", toolName: "lookup", input: JSON.stringify({ round: n2 + 1 }) });
      else parts.push({ type: "text-start", id: "t" }, { type: "text-delta", id: "t", delta: pad }, { type: "text-end", id: "t" });
      parts.push({ type: "finish", usage, finishReason: { unified: n2 < rounds ? "tool-calls" : "stop" } });
      return { stream: new ReadableStream({ start(c) {
        for (const p of parts) c.enqueue(p);
        c.close();
      } }) };
    }
  };
}
const tools = { lookup: { description: "Look one value up.", inputSchema: z.object({ round: z.number() }), effect: "read", execute: async () => pad } };
const plugins = [allow];
if (process.argv[2] === "sqlite") {
  const { storeSqlite } = await import("@perdure/store-sqlite");
  const { mkdtempSync } = await import("node:fs");
  plugins.push({ plugin: storeSqlite, config: { path: mkdtempSync("/var/tmp/p1-") + "/p.db" } });
} else plugins.push(storeMemory);
const rt = await createTestRuntime({ plugins, leaseTtlMs: 1e4 });
const n = Number(process.argv[3] ?? 200);
for (const streaming of [process.argv[4] === "stream"]) {
  const agent = rt.agent({ id: "a" + streaming, model: model(n), tools, streaming, limits: { maxSteps: 1e5 } });
  await agent.ready();
  for (let i = 0; i < 20; i++) {
    const s = await agent.sessions.create();
    const t = performance.now();
    const c0 = process.cpuUsage();
    const r = await s.send(pad);
    if (r.status !== "completed") console.log(r);
    console.log(streaming ? "stream" : "whole", i, ((performance.now() - t) / n * 1e3).toFixed(0), "us/round", ((process.cpuUsage(c0).user + process.cpuUsage(c0).system) / n).toFixed(0), "us cpu");
    await s.close();
  }
}
await rt.dispose();
