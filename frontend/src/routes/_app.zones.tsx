import { createFileRoute } from '@tanstack/react-router'
import { ZonesPage } from '~/features/inventory/ZonesPage'
import { strings } from '~/features/shell/strings'

export const Route = createFileRoute('/_app/zones')({
  staticData: { title: strings.zones, help: 'glossary#tenancy-and-inventory' },
  component: ZonesPage,
})
