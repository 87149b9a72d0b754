policy "few-berths" {
  description       = "More than three berths at once need an owner's word"
  query             = "data.harbour.few_berths"
  enforcement_level = "soft-mandatory"
}

policy "named-quays" {
  description       = "Every quay has a name"
  query             = "data.harbour.named_quays"
  enforcement_level = "hard-mandatory"
}
