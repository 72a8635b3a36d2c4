import type { HonoContext } from '../http/request.ts';
import type { Hub } from '../hub.ts';
import type { Caller } from '../permissions/access.ts';
import type { Html } from './html.ts';
import type { Site } from './site.ts';

export interface PageRequest {
  context: HonoContext;
  site: Site;
  /** `null` without a session. */
  caller: Caller | null;
  address: string | null;
  hub: Hub;
}

/** A request to a page of owners and auditors. */
export interface PermittedRequest extends PageRequest {
  caller: Caller;
}

export interface PageAnswer {
  status?: number;
  /** A whole page. */
  page?: Html;
  /** Instead of a page. */
  text?: { type: string; content: string; file?: string };
  /** Leads to this address. */
  location?: string;
  /** `Set-Cookie` headers. */
  cookies?: string[];
  /** May be stored for this many seconds. */
  cached?: number;
}
