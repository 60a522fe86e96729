import { createFileRoute } from '@tanstack/react-router'
import * as v from 'valibot'
import { ContractsPage } from '~/features/applications/ContractsPage'
import { searchParser } from '~/lib/searchParams'
import { words } from '~/lib/words'

const contractsSearch = searchParser<{ month?: string }>({ month: v.pipe(v.string(), v.regex(/^\d{4}-\d{2}$/)) })

export const Route = createFileRoute('/_app/contracts')({
  staticData: { title: words.contracts, help: 'recommendations#contracts' },
  validateSearch: contractsSearch,
  component: function Contracts() {
    const navigate = Route.useNavigate()
    const { month } = Route.useSearch()
    return (
      <ContractsPage month={month} onMonth={(next) => void navigate({ search: contractsSearch({ month: next }) })} />
    )
  },
})
