import { createStore, type StoreApi } from 'zustand/vanilla';
import type { Notice } from './navigation.ts';

/** What was said of results: the newest one until it has been seen, all of them to read again. */
export interface MessagesState {
  /** Newest first. */
  all: Message[];
  /** Shown on whatever screen one is. */
  toast: Message | null;
}

export interface Message extends Notice {
  id: string;
  at: number;
  /** The run that it is about. */
  run: string | null;
}

export interface Messages {
  store: StoreApi<MessagesState>;
  /** Keeps a message; as a toast it is also shown until it has been seen. */
  add(message: Notice & { run?: string; toast: boolean }): void;
  /** A key was pressed: whoever pressed it has seen what had been there for a while. */
  seen(): void;
}

const KEPT = 200;

/** A toast is there for so long at least: the key of somebody who is typing does not take it away. */
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
