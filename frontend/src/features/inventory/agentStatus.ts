import type { AgentStatus } from '~/api/types'
import type { Status } from '~/ui/StatusMark'

/** How an agent's status looks and reads. */
export const AGENT_STATUS: Record<AgentStatus, { mark: Status; word: string }> = {
  reporting: { mark: 'good', word: 'Reporting' },
  enrolled: { mark: 'waiting', word: 'Enrolled' },
  silent: { mark: 'warn', word: 'Silent' },
  revoked: { mark: 'ended', word: 'Revoked' },
}
