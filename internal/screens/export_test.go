package screens

// AttentionDetail is attentionDetail.
var AttentionDetail = attentionDetail
