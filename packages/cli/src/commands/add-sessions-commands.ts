import { Option, type Command } from 'commander';
import type { CliContext } from '../cli-context.js';
import type { Finish } from '../program.js';
import { withModel, withOutput, withPlace, withRules } from './command-options.js';
import type { OutFlags } from './sessions-anchor.js';
import type { SessionsArchiveFlags } from './sessions-archive.js';
import type { SessionsEventsFlags } from './sessions-events.js';
import type { SessionsExportFlags } from './sessions-export.js';
import type { SessionsImportFlags } from './sessions-import.js';
import type { SessionsFlags } from './sessions-flags.js';
import type { SessionsListFlags } from './sessions-list.js';
import type { SessionsReplayFlags } from './sessions-replay.js';
import type { SessionsSearchFlags } from './sessions-search.js';
import type { SessionsVerifyFlags } from './sessions-verify.js';

/** `sessions …`: what is stored, and what proves it. None but `replay` looks at the agent. Returns the command. */
export function addSessionsCommands(program: Command, context: CliContext, finish: Finish): Command {
  const sessions = program.command('sessions').description('look at sessions, check them, export them');
  const add = (command: Command): Command =>
    withOutput(withPlace(command)).option('--tenant <name>', 'the tenant whose session it is');

  add(sessions.command('list').description('the newest sessions'))
    .option('--limit <count>', 'at most this many (default: 50)')
    .option('--archived', 'those that are archived, in place of the others')
    .option('--all', 'those that work for other sessions, too')
    .option('--query <text>', 'those whose id, title or preview contains it')
    .action(async (flags: SessionsListFlags) => {
      const { sessionsList } = await import('./sessions-list.js');
      finish(await sessionsList(context, flags));
    });
  add(sessions.command('show <id>').description('the transcript')).action(async (id: string, flags: SessionsFlags) => {
    const { sessionsShow } = await import('./sessions-show.js');
    finish(await sessionsShow(context, id, flags));
  });
  add(sessions.command('search <text>').description('sessions that contain a text, also in prompts and answers'))
    .option('--limit <count>', 'at most this many (default: 50)')
    .option('--archived', 'among those that are archived, in place of the others')
    .action(async (text: string, flags: SessionsSearchFlags) => {
      const { sessionsSearch } = await import('./sessions-search.js');
      finish(await sessionsSearch(context, text, flags));
    });
  add(sessions.command('archive <id>').description('put a session away: it takes no prompts until it is restored'))
    .option('--reason <text>', 'why, for those who look at it')
    .action(async (id: string, flags: SessionsArchiveFlags) => {
      const { sessionsArchive } = await import('./sessions-archive.js');
      finish(await sessionsArchive(context, id, flags));
    });
  add(sessions.command('restore <id>').description('bring an archived session back')).action(
    async (id: string, flags: SessionsFlags) => {
      const { sessionsRestore } = await import('./sessions-archive.js');
      finish(await sessionsRestore(context, id, flags));
    },
  );
  add(sessions.command('events <id>').description('the events, or the stored facts behind them'))
    .option('--from <cursor>', 'begin behind this cursor; with --facts, at this revision')
    .option('--follow', 'go on with what comes, until Ctrl-C')
    .option('--facts', 'the facts as they are stored: revision, time, hash, type and payload')
    .action(async (id: string, flags: SessionsEventsFlags) => {
      const { sessionsEvents } = await import('./sessions-events.js');
      finish(await sessionsEvents(context, id, flags));
    });
  add(sessions.command('verify <id>').description('check every stored byte against the hash chain'))
    .option('--anchor <file>', 'and the chain against an anchor that was taken before')
    .action(async (id: string, flags: SessionsVerifyFlags) => {
      const { sessionsVerify } = await import('./sessions-verify.js');
      finish(await sessionsVerify(context, id, flags));
    });
  add(sessions.command('anchor <id>').description('print the end of the hash chain, to be kept elsewhere'))
    .option('--out <file>', 'write it to a file')
    .action(async (id: string, flags: OutFlags) => {
      const { sessionsAnchor } = await import('./sessions-anchor.js');
      finish(await sessionsAnchor(context, id, flags));
    });
  withRules(withModel(add(sessions.command('replay <id>').description('decide everything again and compare'))))
    .option('--verify', 'and compare the state that sessions are opened with')
    .option('--recorded-rules', 'under the rules that each step recorded, beside the configured ones')
    .action(async (id: string, flags: SessionsReplayFlags) => {
      const { sessionsReplay } = await import('./sessions-replay.js');
      finish(await sessionsReplay(context, id, flags));
    });
  add(sessions.command('export <id>').description('the session as one JSON value, or its facts as JSON lines'))
    .option('--out <file>', 'write it to a file')
    .addOption(
      new Option(
        '--format <form>',
        'the exchange form, or every stored fact to the letter (default: snapshot)',
      ).choices(['snapshot', 'facts']),
    )
    .option('--facts', 'the same as --format facts')
    .action(async (id: string, flags: SessionsExportFlags) => {
      const { sessionsExport } = await import('./sessions-export.js');
      finish(await sessionsExport(context, id, flags));
    });
  add(sessions.command('import <file>').description('a session of a snapshot, or a stream as it was exported'))
    .option('--id <id>', 'its id here, for a snapshot (default: that of the snapshot, where it is free)')
    .action(async (file: string, flags: SessionsImportFlags) => {
      const { sessionsImport } = await import('./sessions-import.js');
      finish(await sessionsImport(context, file, flags));
    });
  return sessions;
}
