/** The rows that compare stores and, on the same servers, the clients of those alone. */
const stores = ['memory', 'sqlite', 'postgres', 'emulator', 'eventstoredb'];
const servers = ['postgres', 'emulator', 'eventstoredb'];

const steps = {
  file: 'stores',
  contenders: [...stores, ...servers.map((server) => `raw-${server}`)],
  options: { steps: 100, samples: 2 },
  quick: { steps: 10, samples: 1 },
  repeats: 3,
};

const resume = (events, quick) => ({
  row: `10 resume ${events.toLocaleString('en')}`,
  what: `a killed session of ${events.toLocaleString('en')} events goes on, slowest store, ms`,
  file: 'resume',
  contenders: stores.slice(1),
  options: { events },
  quick: { events: quick },
  diesInPrepare: true,
  repeats: 2,
  value: (medians) => Math.max(...Object.values(medians).map(({ openToModelMs }) => openToModelMs)),
  budget: 'shown',
  meets: () => true,
});

export const storeRows = [
  {
    ...steps,
    row: '9 stores',
    what: 'steps/s, p50 and p99 on each store; the value is steps/s on SQLite',
    value: ({ sqlite }) => sqlite.stepsPerSecond,
    budget: 'shown',
    meets: () => true,
  },
  ...servers.map((server) => ({
    ...steps,
    row: `9 ${server}`,
    what: 'a durable step against two appends of its bytes by the raw client, time',
    needs: server,
    value: (medians) => medians[server].msPerStep / medians[`raw-${server}`].msPerStep,
    budget: '≤ 1.5 × the raw client',
    meets: (value) => value <= 1.5,
  })),
  resume(1_500, 120),
  resume(10_000, 300),
  {
    row: 'peers',
    what: 'a turn of 20 rounds beside the peers: time of a round against diy-sqlite',
    peers: true,
    contenders: [],
    options: { repeats: 3 },
    quick: { repeats: 1 },
    value: ({ perdure, ...others }) => perdure.msPerRound / others['diy-sqlite']?.msPerRound,
    budget: 'shown',
    meets: () => true,
  },
];
