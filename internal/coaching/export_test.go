package coaching

// AttentionDetail is attentionDetail.
var AttentionDetail = attentionDetail
