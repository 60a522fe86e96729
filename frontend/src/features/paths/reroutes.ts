import { skipToken, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { agentEventsQuery, vmQuery } from '~/api/inventory'
import type { TimeMark } from '~/lib/annotations'
import { strings } from './strings'

interface Event {
  id: number
  kind: string
  at: string
  detail: Record<string, unknown>
}

const REFRESH_MS = 30_000

/** Return the changes of route that an agent saw of the packets to or from an address, as marks of a time axis. */
export function rerouteMarks(events: readonly Event[], address: string | null | undefined): TimeMark[] {
  return events.flatMap(({ id, kind, at, detail }) => {
    const message = String(detail.message ?? '')
    const isOfPath = kind === 'route_change' && address != null && message.split(' ').includes(address)
    const from = Date.parse(at) / 1_000
    return isOfPath ? [{ id: `reroute-${id}`, label: strings.rerouted(message), from, to: null }] : []
  })
}

/** Return the changes of route that the agents at both ends of a path saw. */
export function useReroutes(source: string, target: string): TimeMark[] {
  const atSource = useEvents(source)
  const atTarget = useEvents(target)
  return useMemo(
    () => [...rerouteMarks(atSource.events, atTarget.address), ...rerouteMarks(atTarget.events, atSource.address)],
    [atSource.events, atSource.address, atTarget.events, atTarget.address],
  )
}

const NONE: readonly Event[] = []

function useEvents(vmId: string) {
  const vm = useQuery(vmQuery(vmId)).data
  const agentId = vm?.agent?.id
  const events = useQuery(
    agentId === undefined
      ? { queryKey: ['agents', 'none', 'events'], queryFn: skipToken }
      : { ...agentEventsQuery(agentId), refetchInterval: REFRESH_MS },
  )
  return { events: events.data ?? NONE, address: vm?.probe_address }
}
