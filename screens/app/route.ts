import type { TextEdit } from '../../components/text-edit.ts';

/** The routes by screen, which `screens.ts` adds. */
// biome-ignore lint/suspicious/noEmptyInterface: a type of `screens.ts` would be a circle of imports
export interface Routes {}

/** A route as the type of its screen requires it: `Route` itself derives from the screens. */
export interface NamedRoute {
  screen: string;
}

export type ScreenId = keyof Routes;

/** A screen and everything it shows that is not in a store: selection, typed text, questions. */
export type Route = Routes[ScreenId];

/** The text that receives the keys; `null` while none is typed. */
export function typingAt(route: Route): TextEdit | null {
  return 'typing' in route ? route.typing : null;
}
