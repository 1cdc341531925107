// Measures every row: each contender in a process of its own, contenders in turn inside a repeat and the order rotated,
// so that the drift of a noisy machine meets all alike. Ratios are taken of the medians of one run.
//   node tools/bench/run.mjs [--rows 1,3] [--repeats 5] [--json FILE] [--quick]
import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { median } from './lib/measure.mjs';
import { measurePeers } from './lib/peers.mjs';
import { Servers } from './lib/servers.mjs';
import { rows } from './rows.mjs';

const { values: options } = parseArgs({
  options: {
    rows: { type: 'string' },
    repeats: { type: 'string', default: '5' },
    json: { type: 'string' },
    quick: { type: 'boolean', default: false },
  },
});
const repeats = options.quick ? 1 : Number(options.repeats);
const child = fileURLToPath(new URL('child.mjs', import.meta.url));
const wanted = options.rows?.split(',');
const chosen = rows.filter(
  ({ row }) => wanted === undefined || wanted.includes(row.split(' ')[0]) || wanted.includes(row),
);
const root = mkdtempSync(join(tmpdir(), 'perdure-bench-'));
const servers = new Servers(root);
const optionsOf = (row) => ({ ...row.options, ...(options.quick ? row.quick : {}) });

/** Runs one stage of a row in a process of its own. `null` when it died as it should. */
function run(row, stage, contender, folder) {
  const given = { ...optionsOf(row), addresses: servers.addresses() };
  const order = JSON.stringify({ file: row.file, stage, contender, folder, options: given });
  return new Promise((resolve, reject) => {
    const started = spawn(process.execPath, ['--expose-gc', child, order], { stdio: ['ignore', 'pipe', 'inherit'] });
    let out = '';
    started.stdout.on('data', (data) => (out += data));
    started.on('close', (code, signal) => {
      if (code === 0) resolve(JSON.parse(out.trim().split('\n').at(-1)));
      else if (signal === 'SIGKILL' && row.diesInPrepare && stage === 'prepare') resolve(null);
      else reject(new Error(`${row.file} ${stage} of ${contender} ended with ${code ?? signal}`));
    });
  });
}

/** Rows of one file, the same contenders and options share their runs. */
const measured = new Map();
async function measure(row) {
  const key = `${row.file} ${row.contenders.join(' ')} ${JSON.stringify(row.options)}`;
  if (!measured.has(key)) measured.set(key, await measureRow(row));
  return measured.get(key);
}

/** Contenders whose servers are not there are left out. */
async function measureRow(row) {
  try {
    return await measureOn(row, await servers.begin(row.contenders));
  } finally {
    await servers.end();
  }
}

async function measureOn(row, contenders) {
  const results = Object.fromEntries(contenders.map((contender) => [contender, []]));
  const folders = Object.fromEntries(contenders.map((contender) => [contender, mkdtempSync(join(root, 'store-'))]));
  const isPrepared = ['cold-open', 'crash', 'resume'].includes(row.file);
  const times = Math.min(repeats, row.repeats ?? (row.diesInPrepare ? 1 : repeats));
  for (let repeat = 0; repeat < times; repeat++) {
    for (let turn = 0; turn < contenders.length; turn++) {
      const contender = contenders[(turn + repeat) % contenders.length];
      if (isPrepared && repeat === 0) await run(row, 'prepare', contender, folders[contender]);
      const folder = mkdtempSync(join(root, 'store-'));
      // What one repeat leaves behind, a state snapshot for one, must not help the next.
      if (isPrepared) cpSync(folders[contender], folder, { recursive: true });
      results[contender].push(await run(row, 'measure', contender, folder));
      rmSync(folder, { recursive: true, force: true });
    }
  }
  return results;
}

function medians(results) {
  return Object.fromEntries(
    Object.entries(results).map(([contender, list]) => [
      contender,
      Object.fromEntries(
        Object.entries(list[0]).map(([name, value]) => [
          name,
          typeof value === 'number' ? median(list.map((result) => result[name])) : value,
        ]),
      ),
    ]),
  );
}

const report = [];
const shownAlready = new Set();
try {
  for (const row of chosen) {
    const results = row.peers === true ? {} : await measure(row);
    const middle = row.peers === true ? await measurePeers(root, optionsOf(row)) : medians(results);
    if (middle === undefined || (row.needs !== undefined && middle[row.needs] === undefined)) {
      console.log(`LEFT OUT ${row.row.padEnd(20)} ${row.what}`);
      continue;
    }
    const value = row.value(middle);
    const line = {
      row: row.row,
      what: row.what,
      value,
      budget: row.budget,
      met: row.meets(value, middle),
      medians: middle,
      results,
    };
    report.push(line);
    const shown = Number.isNaN(value)
      ? '–'
      : value >= 1_000
        ? Math.round(value).toLocaleString('en')
        : value.toFixed(2);
    console.log(
      `${line.met ? 'met   ' : 'MISSED'} ${row.row.padEnd(16)} ${shown.padStart(10)}   ${row.budget.padEnd(24)} ` +
        row.what,
    );
    // Rows of one run have the same figures.
    if (shownAlready.has(results)) continue;
    shownAlready.add(results);
    for (const [contender, numbers] of Object.entries(middle)) {
      const text = Object.entries(numbers).map(
        ([name, number]) => `${name} ${typeof number === 'number' ? Number(number.toFixed(3)) : number}`,
      );
      console.log(`                                 ${contender}: ${text.join(', ')}`);
    }
  }
} finally {
  await servers.stop();
  rmSync(root, { recursive: true, force: true });
}
if (options.json !== undefined) {
  const machine = { node: process.version, cpu: cpus()[0]?.model, cores: cpus().length, load: loadavg() };
  writeFileSync(
    options.json,
    `${JSON.stringify({ at: new Date().toISOString(), machine, repeats, rows: report }, undefined, 1)}\n`,
  );
}
if (report.some(({ met }) => !met)) process.exitCode = 1;
