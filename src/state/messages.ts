import { createStore, type StoreApi } from 'zustand/vanilla';
import type { ScreenNotice } from './navigation.ts';

/** Results of runs: the newest until it was seen, all in a history. */
export interface MessagesState {
  all: Message[];
  toast: Message | null;
}

export interface Message extends ScreenNotice {
  id: string;
  at: number;
  run: string | null;
}

export interface Messages {
  store: StoreApi<MessagesState>;
  /** Adds a message; a toast is also shown until it was seen. */
  add(message: ScreenNotice & { run?: string; toast: boolean }): void;
  /** A key was pressed: an older toast counts as seen. */
  seen(): void;
}

const KEPT = 200;

/** Minimum time of a toast in ms: typing does not hide it. */
const SHOWN_MS = 2000;

export function createMessages({ clock }: { clock: () => Date }): Messages {
  const store = createStore<MessagesState>(() => ({ all: [], toast: null }));
  let count = 0;
  return {
    store,
    add({ tone, text, run = null, toast }) {
      count += 1;
      const message: Message = { id: String(count), at: clock().getTime(), tone, text, run };
      store.setState(({ all, toast: shown }) => ({
        all: [message, ...all].slice(0, KEPT),
        toast: toast ? message : shown,
      }));
    },
    seen() {
      const { toast } = store.getState();
      if (toast && clock().getTime() - toast.at >= SHOWN_MS) store.setState({ toast: null });
    },
  };
}
