export interface Contestant {
  task: string;
  /** As the page shows it. */
  command: string;
  isOwn: boolean;
  /** Makes ready what is not measured. */
  before?: () => Promise<unknown>;
  run: () => Promise<{ seconds: number }>;
}

/** Runs all in turns, in each round in this order, and returns the seconds of each round. */
export async function inTurns(contestants: Contestant[], rounds: number) {
  const measured = contestants.map(({ task, command, isOwn }) => ({ task, command, isOwn, seconds: [] as number[] }));
  for (let round = 0; round < rounds; round += 1) {
    for (const [at, { before, run }] of contestants.entries()) {
      await before?.();
      measured[at]?.seconds.push((await run()).seconds);
    }
  }
  return measured;
}
