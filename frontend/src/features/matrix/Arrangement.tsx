import { ActionIcon, Button, Tooltip } from '@mantine/core'
import { labelled } from '~/lib/options'
import { Choice } from '~/ui/Choice'
import { RefreshIcon } from '~/ui/icons'
import styles from './matrix.module.css'
import { ORDERS, type Order } from './order'
import type { MatrixSearch } from './search'
import { strings } from './strings'

interface Props {
  order: Order
  canCollapse: boolean
  isAnyClosed: boolean
  isOrdering: boolean
  /** Sort by the present values; undefined when the order does not depend on values. */
  again: (() => void) | undefined
  onSearch: (patch: MatrixSearch) => void
}

/** The order of rows and columns, and the zones collapsed or expanded all at once. */
export function Arrangement({ order, canCollapse, isAnyClosed, isOrdering, again, onSearch }: Props) {
  return (
    <div className={styles.controls}>
      <Tooltip label={strings.orderHint} multiline w={300}>
        <Choice
          aria-label={strings.order}
          w={120}
          size="xs"
          data={labelled(strings.orders, ORDERS)}
          value={order}
          onChange={(order) => onSearch({ order, view: '' })}
        />
      </Tooltip>
      {again && (
        <Tooltip label={isOrdering ? strings.ordering : strings.orderAgain}>
          <ActionIcon variant="default" aria-label={strings.orderAgain} loading={isOrdering} onClick={again}>
            <RefreshIcon />
          </ActionIcon>
        </Tooltip>
      )}
      {canCollapse && (
        <Button variant="default" size="xs" onClick={() => onSearch({ closed: isAnyClosed ? '' : 'all', view: '' })}>
          {isAnyClosed ? strings.expandZones : strings.collapseZones}
        </Button>
      )}
    </div>
  )
}
