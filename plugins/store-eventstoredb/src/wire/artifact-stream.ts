/** How names of streams of artifacts look, as the source of a pattern that servers understand too. */
export const ARTIFACT_STREAM = 'artifact-.*-sha256:';

const PATTERN = new RegExp(`^${ARTIFACT_STREAM}`, 's');

export function isArtifactStream(stream: string): boolean {
  return PATTERN.test(stream);
}
