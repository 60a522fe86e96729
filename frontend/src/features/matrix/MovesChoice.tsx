import { NativeSelect } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { openMovesQuery } from '~/api/recommendations'
import { formatTime } from '~/lib/time'
import { useClock } from '~/ui/clock'
import type { ChangeSearch } from './search'
import { strings } from './strings'

interface Props {
  meshId: string
  chosen: string | undefined
  onSearch: ChangeSearch
}

/** The proposals of the mesh whose moves the heatmap can show; nothing while there are none. */
export function MovesChoice({ meshId, chosen, onSearch }: Props) {
  const clock = useClock()
  const { data = [] } = useQuery(openMovesQuery(meshId))
  if (data.length === 0 && !chosen) return null
  const named = data.map(({ id, moves, created_at }) => ({
    value: id,
    label: strings.movesOf(moves, formatTime(new Date(created_at), clock)),
  }))
  const others = chosen && !data.some(({ id }) => id === chosen) ? [{ value: chosen, label: strings.shownMoves }] : []
  return (
    <NativeSelect
      aria-label={strings.moves}
      size="xs"
      w={150}
      data={[{ value: '', label: strings.noMovesShown }, ...named, ...others]}
      value={chosen ?? ''}
      onChange={({ currentTarget: { value } }) =>
        void onSearch({ moves: value || undefined, step: undefined, move: undefined })
      }
    />
  )
}
