import type { TextEdit } from '../../components/text-edit.ts';

/** The routes by screen. Each screen adds its own: `declare module '../app/route.ts' { interface Routes { … } }`. */
// biome-ignore lint/suspicious/noEmptyInterface: the screens extend it
export interface Routes {}

export type ScreenId = keyof Routes;

/** A screen and everything it shows that is not in a store: selection, typed text, questions. */
export type Route = Routes[ScreenId];

/** The text that receives the keys; `null` while none is typed. */
export function typingAt(route: Route): TextEdit | null {
  return 'typing' in route ? route.typing : null;
}
