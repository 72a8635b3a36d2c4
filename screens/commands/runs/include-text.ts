/** Asks whether builds include all schemas from now on. */
export function includeQuestion(target: string, lost: string[]): { question: string; lines: string[] } {
  return {
    question: `Include all schemas in builds of ${target}?`,
    lines: [
      `Not in this snapshot: ${lost.join(', ')}`,
      `Written: targets.${target}.snapshot.schema_config: { use_default_schema: false }`,
    ],
  };
}
