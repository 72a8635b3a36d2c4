class CreateOrders < ActiveRecord::Migration[6.1]
  def change
    create_table(:orders) { |table| table.text :item, null: false }
  end
end
