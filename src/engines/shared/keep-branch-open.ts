import type { OpenBranchReset } from '../facets/branch.ts';

interface BranchSessions {
  /** Opens the sessions that are not open. */
  reset: OpenBranchReset['reset'];
  isOpen(): boolean;
  close(): Promise<void>;
  /** Reports whether the server, or the network, has ended a session. */
  isLost(error: unknown): boolean;
  explained(work: () => ReturnType<OpenBranchReset['reset']>): ReturnType<OpenBranchReset['reset']>;
}

/**
 * Resets a branch with sessions that stay open. They are closed after a failure, and opened again: at once where the
 * server had ended idle ones.
 */
export function keepBranchOpen({ reset, isOpen, close, isLost, explained }: BranchSessions): OpenBranchReset {
  const resetOrClose: OpenBranchReset['reset'] = async (given) => {
    try {
      const done = await reset(given);
      if (typeof done === 'string') await close();
      return done;
    } catch (error) {
      await close();
      throw error;
    }
  };
  return {
    reset: (given) =>
      explained(() => {
        const wasOpen = isOpen();
        return resetOrClose(given).catch((error) => {
          if (!wasOpen || !isLost(error)) throw error;
          return resetOrClose(given);
        });
      }),
    [Symbol.asyncDispose]: close,
  };
}
