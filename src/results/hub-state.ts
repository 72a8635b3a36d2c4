/** Why the targets of the hub are not those that it has now. */
export interface HubState {
  problem: 'unreachable' | 'refused';
  /** Time at which the shown targets were listed; `null` when none are known. */
  as_of: string | null;
}
