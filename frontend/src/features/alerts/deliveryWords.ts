import type { Delivery } from '~/api/receivers'
import { strings } from './strings'

export const DELIVERY_STATES: Record<Delivery['state'], string> = {
  waiting: strings.deliveryWaiting,
  sent: strings.sent,
  failed: strings.failed,
}
