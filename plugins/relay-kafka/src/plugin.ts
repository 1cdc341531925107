import { CLI_COMMANDS, definePlugin, EVENT_STORE, HOST_ENV, LOGGER, PLUGIN_API } from '@perdure/plugin-api';
import { AutoRelay } from './auto-relay.js';
import { relayCommand } from './cli/relay-command.js';
import { relayOptions } from './options.js';
import { version } from './version.js';

/** Relays the facts of the runtime's store to Kafka, in this process or by `perdure relay run`. */
export const relayKafka = definePlugin({
  name: 'relay-kafka',
  api: PLUGIN_API,
  version,
  config: relayOptions,
  provides: [CLI_COMMANDS],
  needs: [EVENT_STORE],
  wants: [HOST_ENV, LOGGER],
  setup({ config: options, get, find, provide }) {
    const store = get(EVENT_STORE);
    const logger = find(LOGGER);
    const node = find(HOST_ENV)?.nodeId;
    const ground = { store, options, logger, ...(node === undefined ? {} : { node }) };
    const auto = options.autoStart ? new AutoRelay(ground, logger) : undefined;
    const command = relayCommand(ground);
    provide(CLI_COMMANDS, {
      ...command,
      // A command of this process has the topics to itself.
      run: async (args, io) => {
        await auto?.stop();
        return command.run(args, io);
      },
    });
    return {
      async start() {
        auto?.start();
      },
      async stop() {
        await auto?.stop();
      },
    };
  },
});
