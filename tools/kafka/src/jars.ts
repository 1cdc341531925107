import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

export const KAFKA_VERSION = '4.1.2';
const LOGGING_VERSION = '1.7.36';

/** Milliseconds that Maven has. */
const PATIENCE = 300_000;

/** What a broker is started with. */
export interface KafkaFiles {
  /** The program `java`. */
  readonly java: string;
  /** The jars of Kafka and of all that it needs. */
  readonly classPath: string;
}

/** Where jars are kept, outside of any repository: `XDG_CACHE_HOME/perdure/kafka`. */
function cacheFolder(environment: NodeJS.ProcessEnv): string {
  return join(environment['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'perdure', 'kafka');
}

/** The jars of a broker, if they are on this machine already. Asks nothing of the network. */
export function findKafka(environment: NodeJS.ProcessEnv = process.env): string | undefined {
  const folder = join(cacheFolder(environment), KAFKA_VERSION);
  return existsSync(folder) ? classPathOf(folder) : undefined;
}

/**
 * The jars of a broker, fetched by Maven when they are not on this machine, and the Java to run them with. Throws an
 * error that says what to install, or what Maven complained about.
 */
export async function resolveKafka(environment: NodeJS.ProcessEnv = process.env): Promise<KafkaFiles> {
  const java = await checkedJava();
  const found = findKafka(environment);
  if (found !== undefined) return { java, classPath: found };
  const cache = cacheFolder(environment);
  mkdirSync(cache, { recursive: true });
  const work = mkdtempSync(join(cache, 'resolving-'));
  try {
    writeFileSync(join(work, 'pom.xml'), pom());
    const jars = join(work, 'jars');
    await maven([
      ...['-q', '-B', '-f', join(work, 'pom.xml'), 'dependency:copy-dependencies'],
      ...[`-DoutputDirectory=${jars}`, '-DincludeScope=runtime', `-Dmaven.repo.local=${join(cache, 'maven')}`],
    ]);
    const target = join(cache, KAFKA_VERSION);
    // Another process may have been quicker: its jars are the same.
    if (!existsSync(target)) moveTo(jars, target);
    return { java, classPath: classPathOf(target) };
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function moveTo(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if (!existsSync(to)) throw error;
  }
}

/** In the order of their names, so that it is the same each time. */
function classPathOf(folder: string): string {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.jar'))
    .sort()
    .map((name) => join(folder, name))
    .join(':');
}

async function checkedJava(): Promise<string> {
  const said = await run('java', ['-version']).then(
    ({ stderr }) => stderr,
    () => undefined,
  );
  const version = Number(/version "(\d+)/.exec(said ?? '')?.[1] ?? 0);
  if (version >= 17) return 'java';
  const found = said === undefined ? 'There is no Java on this machine' : `Java ${version} is too old`;
  throw new Error(`${found}: Apache Kafka needs 17 (on Debian: apt-get install openjdk-17-jre-headless).`);
}

async function maven(args: readonly string[]): Promise<void> {
  try {
    await run('mvn', args, { timeout: PATIENCE, maxBuffer: 16 * 1024 * 1024 });
  } catch (error) {
    const { code, stdout = '' } = error as { code?: unknown; stdout?: string };
    const reason =
      code === 'ENOENT'
        ? 'There is no Maven on this machine (on Debian: apt-get install maven).'
        : `Maven could not fetch Apache Kafka: ${stdout.trim().slice(-2_000) || String(error)}`;
    throw new Error(reason, { cause: error });
  }
}

function pom(): string {
  const dependencies = [
    ['org.apache.kafka', 'kafka_2.13', KAFKA_VERSION],
    ['org.slf4j', 'slf4j-simple', LOGGING_VERSION],
  ];
  const listed = dependencies.map(
    ([group, artifact, version]) => `<dependency>
      <groupId>${group}</groupId><artifactId>${artifact}</artifactId><version>${version}</version>
    </dependency>`,
  );
  return `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>dev.perdure</groupId>
  <artifactId>kafka-for-tests</artifactId>
  <version>1</version>
  <packaging>pom</packaging>
  <dependencies>${listed.join('')}</dependencies>
</project>
`;
}
