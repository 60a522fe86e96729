/** Texts of the compute mix page. */

import { words } from '~/lib/words'

export const strings = {
  ...words,
  computeMixLead: 'The cheapest split of a load between VMs and serverless that keeps a response target.',
  computeMixLower: 'the mix',
  service: 'Service',
  currencyCode: 'Currency (ISO 4217)',
  notCurrency: 'Three capital letters, as EUR.',
  loadPerSecond: 'Load (jobs/s)',
  targetMs: 'Response target (ms)',
  targetStatistic: 'Target holds for',
  statistics: { mean: 'the mean', '50': 'p50', '90': 'p90', '95': 'p95', '99': 'p99', '99.9': 'p99.9' },
  variation: 'Variation of service times (c²)',
  vmTypes: 'VM types',
  vmType: 'VM type',
  pricePerHour: 'Price per hour',
  serviceMs: 'Service time (ms)',
  removePath: (source: string, target: string) => `Remove ${source} to ${target}`,
  addVmType: 'Add VM type',
  fromPriceList: 'From a price list',
  chooseEntry: 'Choose an entry',
  entry: (place: string, name: string, price: string, list: string) => `${place} ${name}, ${price} (${list})`,
  vmPrice: (price: number) => `${price} per hour`,
  serverlessPrice: (price: number) => `${price} per GB-s`,
  otherCurrency: (count: string, currency: string) =>
    `Entries of price lists that are not in ${currency} are not offered: ${count}.`,
  serverless: 'Serverless',
  serverlessOffered: 'Serverless is an option',
  memoryGb: 'Memory (GB)',
  perGbSecond: 'Price per GB-s',
  perMillion: 'Price per million requests',
  coldPercent: 'Cold starts (%)',
  coldMs: 'Cold start (ms)',
  networkLead:
    'The one-way delays between client and service, at the statistic of the target over the last hour, reduce the response budget. Add another path to compare: the same service on another VM.',
  noMesh: 'No mesh yet: the network takes nothing of the budget.',
  client: 'Client VM',
  serviceVm: 'VM of the service',
  addPath: 'Add a path',
  addOtherPath: 'Add another path',
  hourlyLoad: 'Load profile',
  hourlyLoads: 'Loads by hour (jobs/s)',
  hourlyLoadsLead: 'Optional: up to 168 numbers. The profile repeats.',
  notNumbers: 'Numbers of at least 0, separated by commas or spaces.',
  termHours: 'Minimum term (h)',
  findMix: 'Find mix',
  cheapestMix: 'Cheapest mix',
  noMix: 'No mix keeps the target',
  budget: (budget: string, statistic: string, delays: string) =>
    `Response budget ${budget} ms: the target less ${delays}, the ${statistic} of both one-way delays.`,
  difference: (amount: string, sign: number) =>
    sign === 0
      ? 'Costs the same as the first path.'
      : `${amount} per hour ${sign > 0 ? 'more' : 'less'} than the first path.`,
  advice: {
    serverless_only: (_vm: string, _vms: number, load: string) => `Serverless only: ${load} jobs/s`,
    mixed: (vm: string, vms: number, load: string) => `${vms} × ${vm}, and ${load} jobs/s to serverless`,
    vm_only: (vm: string, vms: number, _load: string) => `${vms} × ${vm}, no serverless`,
    infeasible: (_vm: string, _vms: number, _load: string) => 'No mix keeps the target',
  },
  cost: (amount: string, saving: string | null) =>
    saving === null
      ? `${amount} per hour.`
      : `${amount} per hour; ${saving} less than the cheaper of VMs alone and serverless alone.`,
  optionsOf: (label: string) => `Options by VM type, ${label}`,
  utilisationMax: 'Most utilisation',
  capacity: 'Capacity of a VM',
  breakEven: 'Break-even load',
  toServerless: 'To serverless',
  vmsAlone: 'VMs alone',
  serverlessAlone: 'Serverless alone',
  mixLine: 'Cheapest mix',
  costChart: (vm: string, currency: string) => `Cost per hour (${currency}) by load with ${vm}`,
  yourLoad: 'your load',
  profileCost: (cost: string, hours: string, vm: string, vms: string, serverless: string) =>
    `The profile costs ${cost} in ${hours} h with ${vm}. VMs alone: ${vms}; serverless alone: ${serverless}.`,
  profileOf: (label: string) => `Load profile, ${label}`,
  hour: 'Hour',
  costOfHour: 'Cost',
  providerPrices: 'Prices of the provider',
  providerPricesLead:
    'How the best mix and the profit of the provider follow the price of a busy container. Useful for negotiation: above a switch the tenant rents VMs instead.',
  vmCost: 'Cost of a VM to the provider, per hour',
  switches: (first: string, second: string) =>
    `Serverless only up to ${first}; with a mix up to ${second} per busy hour.`,
  oneSwitch: (first: string) => `Serverless only up to ${first} per busy hour; VMs only above.`,
  equilibrium: (price: string, profit: string) =>
    `Equilibrium: the provider earns most, ${profit} per hour, at ${price} per busy hour.`,
  equilibriumAbove: (price: string, profit: string) =>
    `Equilibrium: the provider earns most, ${profit} per hour, at any price above ${price} per busy hour, as the tenant then rents VMs only.`,
  profitChart: 'Profit of the provider and bill of the tenant by the price of a busy container',
  profit: 'Profit of the provider',
  bill: 'Bill of the tenant',
  busyHourPrice: (currency: string) => `price of a busy container per hour (${currency})`,
  priceBasis: 'Price basis',
  priceBasisLead:
    'Recommended moves of an application show how they change the cheapest mix. They are priced by this service: load, response target, VM types and serverless as above.',
  noApplications: 'No application yet',
  noPriceBasis: 'No price basis yet.',
  useAsBasis: 'Use as price basis',
  deleteBasis: 'Delete price basis',
  basisSummary: (load: string, target: string, types: string, serverless: boolean) =>
    `Price basis: ${load} jobs/s, ${target}, ${types}${serverless ? ' and serverless' : ''}.`,
  priceLists: 'Price lists',
  noPriceLists: 'No price list yet',
  noPriceListsLead: 'Import the sample, or a CSV or JSON file of your provider.',
  priceListsLower: 'price lists',
  importSample: (date: string) => `Import sample of ${date}`,
  importFile: 'Import file…',
  importCurrency: 'Currency of the file',
  fileLead:
    'A CSV or JSON file. Columns: kind (vm or serverless), provider, region, name, price_per_hour, price_per_gb_second, price_per_million_requests. Its date becomes that of the prices.',
  currency: 'Currency',
  asOf: 'As of',
  entries: 'Entries',
  deleteEffect: 'Its prices are no longer offered; mixes that were found with them stay in their links.',
}
