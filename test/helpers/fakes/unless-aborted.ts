/** Waits for the gate; an abort ends the waiting. */
export async function unlessAborted(gate: Promise<void>, signal: AbortSignal): Promise<void> {
  const aborted = new Promise<never>((_, reject) =>
    signal.addEventListener('abort', () => reject(signal.reason), { once: true }),
  );
  await Promise.race([gate, aborted]);
}
